"""The network, in PyTorch and compiled."""

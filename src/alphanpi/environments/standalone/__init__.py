"""The built-in environments as plain Python, copied into exported modules."""

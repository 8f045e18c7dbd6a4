"""Proofs by machine: programs shown to be right at every size, by running their bodies on unknown states."""

"""A run directory: its files and how they belong together."""

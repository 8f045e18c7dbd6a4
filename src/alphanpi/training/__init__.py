"""A training run from beginning to end: started, watched, written down, resumed."""

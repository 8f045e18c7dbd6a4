"""What a user writes, how it is found, guarded and checked."""

"""A trained agent: loading, running and measuring it."""

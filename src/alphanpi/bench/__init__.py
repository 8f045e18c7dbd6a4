"""Measurements of speed, and the literal transcription of the algorithms that they and the tests compare with."""

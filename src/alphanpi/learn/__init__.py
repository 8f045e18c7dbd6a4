"""Learning: curriculum, replay, gradient steps, validation."""

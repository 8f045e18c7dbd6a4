"""One run on many machines: the connection to Ray, and workers that play what a driver asks for."""

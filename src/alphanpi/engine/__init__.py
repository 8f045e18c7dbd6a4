"""The search engine: interned states and histories, a compiled kernel over integers, and its driver.

It imports neither torch nor any environment.
"""

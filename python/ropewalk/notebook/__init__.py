"""Notebooks on a cluster of one instance: their start, and their files in both directions."""

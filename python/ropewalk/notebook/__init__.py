"""Notebooks on a cluster of one instance: their start, and their file sync."""

"""Fits, knees and correlations: pure functions over arrays."""

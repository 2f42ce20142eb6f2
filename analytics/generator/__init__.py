"""Traces of the same shape as published ones, from a seed."""

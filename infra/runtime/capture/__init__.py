"""Capture: what happened in an engine, written as a trace."""

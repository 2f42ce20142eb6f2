"""Ownership of shards: which node writes and works off which part of the log."""

"""Spark jobs: metrics and curves of a trace."""

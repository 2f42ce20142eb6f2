"""Cassandra for coroutines. The driver is imported here and nowhere else."""

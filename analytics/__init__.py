"""Workload characterization and capacity planning, on Spark."""

"""Workload traces, their characterization with Spark, and capacity planning."""

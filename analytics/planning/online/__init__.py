"""A new choice of topics from the last one, after the workload changed (spec D7, WA-46)."""

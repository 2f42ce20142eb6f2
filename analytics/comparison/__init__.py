"""Two characterizations, figure by figure."""

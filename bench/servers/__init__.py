"""The servers that are measured. Each starts for one run, is pinned to the server's core, and ends after the run."""

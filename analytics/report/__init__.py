"""One HTML page that shows a characterization."""

"""Published data sets, read into traces."""

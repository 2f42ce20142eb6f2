"""`segue overlay`."""

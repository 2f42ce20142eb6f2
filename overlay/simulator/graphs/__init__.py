"""Who subscribes to what: graphs that are made, and graphs that are read."""

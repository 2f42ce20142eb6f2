"""The shells of every role, which touch the world: loops, sockets, files, configuration, logs, metrics."""

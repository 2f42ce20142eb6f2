"""What touches the world on behalf of every role: loops, sockets, files, configuration, logs, metrics."""

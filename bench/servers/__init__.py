"""Servers to be measured: each is started for one run, pinned to the server's core, and ended after it."""

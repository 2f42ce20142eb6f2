"""Measurements inside one fresh process, pinned to the server's core: `python -m bench.micro.NAME SIZE` prints JSON."""

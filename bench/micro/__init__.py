"""Measurements inside one fresh process that is pinned to a core. `python -m bench.micro.NAME SIZE` (or a plan) prints JSON."""

"""Whole clusters in virtual time: production's own classes on an event loop, a network and clocks of ours."""

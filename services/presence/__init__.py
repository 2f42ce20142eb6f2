"""Presence: takes friend-feed actions from clients, keeps the last event of each user in memory, publishes it (SB-29)."""

"""Quasar in the simulator: its filters, its walks, its polls (P2P-36 to P2P-47)."""

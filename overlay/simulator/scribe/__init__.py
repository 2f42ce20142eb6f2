"""Scribe on Pastry in the simulator: a fair rival of PolderCast, as its authors describe it (P2P-33 to P2P-35)."""

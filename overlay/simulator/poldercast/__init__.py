"""PolderCast in the simulator: its state, a cycle of it, and an event in it."""

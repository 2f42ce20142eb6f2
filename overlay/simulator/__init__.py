"""The world that the overlays are simulated in, and the drivers that run their protocol code."""

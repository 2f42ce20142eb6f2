"""The decisions of the overlays, each once: plain functions over whole numbers and flat buffers, for simulator and live peers."""

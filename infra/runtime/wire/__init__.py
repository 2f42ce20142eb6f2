"""Wires: frames between two processes, over TCP or in memory."""

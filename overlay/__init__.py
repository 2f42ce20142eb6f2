"""Peer-to-peer overlays: the protocols that could carry what the brokers offload, and the laboratory that simulates them."""

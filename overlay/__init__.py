"""Peer-to-peer overlays that carry what the brokers offload."""

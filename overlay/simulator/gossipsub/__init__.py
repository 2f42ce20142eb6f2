"""GossipSub in the simulator, v1.1 and v1.0: by heartbeats, and by events with the latencies of messages."""

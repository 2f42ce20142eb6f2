"""The broker: a DHT node that holds interest in memory, matches, numbers, and copies to other sites at most once."""

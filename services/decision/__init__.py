"""The decision service: it chooses which topics the brokers serve in real time when capacity is short (thesis 6.1; spec C7)."""

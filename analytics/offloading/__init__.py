"""What the decision service computes: who follows what as arrays of pairs, forecasts, and which topics to serve (thesis 6.1)."""

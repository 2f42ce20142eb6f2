"""The computations of the decision service: follows as arrays of pairs, forecasts, and which topics to serve (thesis 6.1)."""

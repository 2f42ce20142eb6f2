"""The pairs to serve and the machines to serve them on, so that everybody is satisfied at the least cost (thesis ch. 7; spec D)."""

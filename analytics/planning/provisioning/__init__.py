"""Which pairs to serve on which machines, so that everybody is satisfied and it costs least (thesis ch. 7; spec D)."""

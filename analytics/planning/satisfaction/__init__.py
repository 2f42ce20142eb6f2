"""The topics to serve within a capacity, so that most subscribers are satisfied (thesis ch. 6; spec C)."""

"""The composition of roles: one process or many, one site or several."""

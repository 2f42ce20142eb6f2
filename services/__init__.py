"""The publisher services: presence; playlist, social and artist monitoring have their place here."""

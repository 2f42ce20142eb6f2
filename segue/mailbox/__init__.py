"""A mail server on the loopback that sends nothing on: what it takes is shown, or counted."""

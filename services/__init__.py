"""The services behind the engine: presence, playlist, social and artist monitoring publish; decision chooses what is in real time."""

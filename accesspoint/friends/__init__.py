"""Friends: sessions that follow all friends of their user and their playlists, whoever these are from time to time."""

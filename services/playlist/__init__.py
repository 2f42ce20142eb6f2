"""The playlist service: it keeps playlists and who follows them, and tells every follower of each change (SB spec 3.6)."""

"""HTTP and WebSocket: the engine's own door on httptools, and aiohttp under every other door."""

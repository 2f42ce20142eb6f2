"""HTTP and WebSocket: the engine's own server on httptools, and aiohttp under every other one."""

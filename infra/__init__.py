"""The floor of the house: `kernel` (pure), `runtime` (asyncio, sockets, files), `deploy` (samples)."""

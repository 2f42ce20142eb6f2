"""Pure building blocks: no asyncio, no sockets, no clocks, no randomness, no drivers."""

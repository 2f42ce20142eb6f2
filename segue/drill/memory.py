"""The memory of windows, in a drill."""

import asyncio

from .nodes import DrillNodes


async def fullest(nodes: DrillNodes) -> float:
    """Returns what the fullest window takes, in percent of what it may; its broker says it. What is kept for others counts alike."""
    brokers = await asyncio.gather(*(nodes.figures(name) for name in nodes.names() if "/b" in name))
    taken: list[float] = [each[name] for each in brokers for name in ("broker_window_bytes", "broker_window_copies_bytes")]
    return round(100 * max(taken) / nodes.windows.window_bytes, 1)

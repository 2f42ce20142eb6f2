"""The error that the overlay laboratory raises."""

from infra.kernel.errors import SegueError


class OverlayError(SegueError):
    """An input or a setting that cannot be simulated. The message says which one, and what to give instead."""

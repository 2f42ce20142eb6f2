"""What planning raises."""

from infra.kernel.errors import SegueError


class PlanError(SegueError):
    """A problem that cannot be meant, or a result that breaks its own rules; the message says what to change."""

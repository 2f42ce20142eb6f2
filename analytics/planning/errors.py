"""The error that planning raises."""

from infra.kernel.errors import SegueError


class PlanError(SegueError):
    """A problem that makes no sense, or a result that breaks its own rules. The message says what to change."""

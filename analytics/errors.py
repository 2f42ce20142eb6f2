"""The errors of analytics.

SegueError
└── TraceError       a trace, a data set or the machine is not what a job needs; names the file and the remedy
    └── NotSupported     this source cannot answer that; says why
"""

from infra.kernel.errors import SegueError


class TraceError(SegueError):
    """A trace, a data set or a machine that does not fit. The message names the file (row, column) and says what to do."""


class NotSupported(TraceError):  # noqa: N818 - it is an answer
    """A question that a trace cannot answer, because it lacks what the metric needs."""

"""Whether a trace is what its manifest and docs/trace.md say: `validate` reads every row, `quick_check` only looks at the files."""

from .files import quick_check
from .findings import Finding, Report
from .validate import validate

__all__ = ["Finding", "Report", "quick_check", "validate"]

"""The check of a trace against its manifest and docs/trace.md: `validate` reads every row, `quick_check` only looks at the files."""

from .defects import Defect, Report
from .files import quick_check
from .validate import validate

__all__ = ["Defect", "Report", "quick_check", "validate"]

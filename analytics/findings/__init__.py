"""The findings of the thesis, next to what a trace says: judged in one place, in plain words."""

from .judging import JudgedFinding, findings
from .sentences import sentence

__all__ = ["JudgedFinding", "findings", "sentence"]

"""A logger that keeps what it was told."""

from typing import Any


class RecordingLog:
    """A logger that keeps what was logged as (level, event, fields)."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def debug(self, event: str, /, **fields: Any) -> None:
        self.lines.append(("debug", event, fields))

    def info(self, event: str, /, **fields: Any) -> None:
        self.lines.append(("info", event, fields))

    def warning(self, event: str, /, **fields: Any) -> None:
        self.lines.append(("warning", event, fields))

    def error(self, event: str, /, **fields: Any) -> None:
        self.lines.append(("error", event, fields))

    def exception(self, event: str, /, **fields: Any) -> None:
        self.lines.append(("exception", event, fields))

    def of(self, event: str) -> list[dict[str, Any]]:
        """Returns the fields of each line that says `event`."""
        return [fields for _, each, fields in self.lines if each == event]

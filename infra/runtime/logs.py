"""Logs. They tell lifecycles: connect, close, peer up, peer down, drain. They tell nothing per event (design 5.5).

Lines go to stderr, because stdout belongs to what a command prints. Records of the standard library (asyncio, aiohttp) take
the same form. Nothing happens at import; a process calls `configure` once, before its roles start.
"""

import logging
import sys
from io import StringIO
from typing import Any, Literal, Protocol, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, ExcInfo, Processor

from infra.kernel.printable import printable, printable_lines

Format = Literal["console", "json"]
Level = Literal["debug", "info", "warning", "error"]


class Logger(Protocol):
    """A logger, such as one of structlog. `fields` are shown beside `event`."""

    def debug(self, event: str, /, **fields: Any) -> Any: ...

    def info(self, event: str, /, **fields: Any) -> Any: ...

    def warning(self, event: str, /, **fields: Any) -> Any: ...

    def error(self, event: str, /, **fields: Any) -> Any: ...

    def exception(self, event: str, /, **fields: Any) -> Any:
        """Logs as `error`, with the traceback of the exception that is handled now."""


class LogOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the table `[log]`."""

    format: Format = "console"
    level: Level = "info"


def configure(format: Format, level: Level, stream: TextIO | None = None) -> None:
    """Sends every record from `level` up to `stream`, in `format`. Without a `stream`: to stderr of this moment. The last call wins."""
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_fields(), structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendering(format, stream)],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    structlog.configure(
        processors=[*_fields(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def get_logger(role: str, node: str, site: str) -> Logger:
    """Returns a logger whose lines carry `role`, `node` and `site`. It follows `configure`, also a later one."""
    logger: Logger = structlog.get_logger(f"segue.{role}", role=role, node=node, site=site)
    return logger


def _fields() -> list[Processor]:
    return [structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts")]


def _rendering(format: Format, stream: TextIO) -> list[Processor]:
    if format == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return [_safe, structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=_traceback, timestamp_key="ts")]


def _safe(_logger: object, _method: str, line: EventDict) -> EventDict:
    """Returns a line in which no text of a stranger begins another line, or tells a terminal what to do. JSON does that by itself."""
    return {key: printable(value) if isinstance(value, str) else value for key, value in line.items()}


def _traceback(stream: TextIO, trouble: ExcInfo) -> None:
    """Writes a plain traceback: the pretty ones print local variables, and with them tokens and keys."""
    text = StringIO()
    structlog.dev.plain_traceback(text, trouble)
    stream.write(printable_lines(text.getvalue()))

"""Errors that are logged while a simulated life goes on."""

import logging
from collections.abc import Callable


class ErrorWatch(logging.Handler):
    """Tells what is logged as an error, for as long as the block runs."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._tell = tell

    def __enter__(self) -> None:
        logging.getLogger().addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(f"an error was logged: {record.getMessage()}")

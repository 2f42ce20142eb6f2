"""The colours of everything that Segue draws in a terminal, as rich styles."""

from typing import Final

GREEN: Final = "#1db954"
ON_GREEN: Final = f"bold #0b0f0d on {GREEN}"
SHADES: Final = ("#7ff0a8", "#4fdc85", GREEN, "#158a3e")
QUIET: Final = "#858d9b"
FRAME: Final = "#4b5563"
WARN: Final = "#f5a524"
BAD: Final = "bold #ff5c5c"

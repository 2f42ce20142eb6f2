"""The files of Segue Radio, which is an example application: `make js` builds its scripts."""

from pathlib import Path
from typing import Final

from infra.kernel.errors import SegueError

FOLDER: Final = Path(__file__).resolve().parents[3] / "examples" / "radio"
# What the server gives to a browser, and as what. Nothing else in the folder is served.
TYPES: Final = {
    "index.html": "text/html",
    "radio.css": "text/css",
    "icon.svg": "image/svg+xml",
    "dist/radio.js": "text/javascript",
    "dist/worker.js": "text/javascript",
}


class RadioError(SegueError):
    """Something that Segue Radio lacks. The message says what to do."""


def need_built(folder: Path = FOLDER) -> Path:
    """Returns the folder of the application. Raises RadioError where it is missing or has not been built."""
    if not (folder / "index.html").exists():
        raise RadioError(f"{folder} is missing; Segue Radio is part of a checkout of Segue and not of the installed package")
    if missing := [name for name in TYPES if not (folder / name).exists()]:
        raise RadioError(f"Segue Radio is not built ({missing[0]} is missing); build it with `make js`, which needs node 20.10 or newer")
    return folder

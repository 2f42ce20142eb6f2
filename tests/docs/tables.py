"""What the harness has to know of the pages beyond their own words. Tests hold every entry against the pages."""

import re
from typing import Final

# Commands that stay until Ctrl-C, and what they print once others can rely on them.
SERVERS: Final = {
    r"segue up\b": r"ready; stop with",
    r"segue (broker|aggregator|presence|notification|playlist|social|artist|accesspoint|ods) ": r" at ",
    r"segue listen (?!.*--count)": r"listening; stop with",
    r"python feed\.py ": r"play",
    r"python bell\.py ": r"album",
    r"python minute\.py ": r"Installed",
    r"python examples/follow\.py ": r"",
}

# What does not run here: how it begins, behind its page's name, and why.
NOT_RUN: Final = {
    "README.md: make test": "it runs these pages",
    "infra/deploy/README.md: docker": "it wants Docker and images from the Internet; tests/deploy reads the files",
    "infra/deploy/README.md: SEGUE_UID=": "the same",
    "docs/web-push.md: const registration": "the browser would ask its maker's push service; tests/notification/channels has one of its own",
    "docs/web-push.md: self.addEventListener": "it belongs into the worker of the script above it",
    "docs/operations.md: curl -X POST": "there is no dead letter where all is well; tests/notification/test_sending.py replays one",
}

# What runs in another form: a piece of a command as printed, how it is run, and why.
REPLACED: Final = {
    r"^make demo$": (r'make demo ARGS="--users 100 --seconds 2"', "fewer users, and not so long"),
    r"^segue demo\b": (r"segue demo --users 100 --seconds 2", "the same"),
    r"--scale 1/100\b": (r"--scale 1/10000 --publications 10000 --sessions 10000", "the smallest trace that has every table"),
}


def is_server(command: str) -> str | None:
    """Returns what a command prints once it serves; None if it ends by itself."""
    return next((ready for pattern, ready in SERVERS.items() if re.match(pattern, command)), None)


def why_not(page: str, text: str) -> str | None:
    """Returns why a command or a script of a page does not run here; None if it does."""
    return next((reason for entry, reason in NOT_RUN.items() if f"{page}: {text}".startswith(entry)), None)


def as_run(command: str) -> str:
    """Returns a command as it is run here."""
    for printed, (run, _) in REPLACED.items():
        command = re.sub(printed, run, command)
    return command

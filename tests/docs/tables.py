"""What the harness has to know of the pages beyond their own words. Tests hold every entry against the pages."""

import re
from typing import Final

# Commands that stay until Ctrl-C, and what they print once others can rely on them.
SERVERS: Final = {
    r"segue up\b": r"ready; stop with",
    r"segue (broker|aggregator|presence|notification|playlist|social|artist|accesspoint|decision) ": r" at ",
    r"segue listen (?!.*--count)": r"listening; stop with",
    r"python feed\.py ": r"play",
    r"python receive\.py ": r"waiting at ",
    r"python bell\.py ": r"album",
    r"python minute\.py ": r"Installed",
    r"python examples/follow\.py ": r"following",
}

# What does not run here: how it begins, behind its page's name, and why.
NOT_RUN: Final = {
    "README.md: make test": "it runs these pages",
    "docs/testing.md: make test\n": "the same",
    "CONTRIBUTING.md: make check": "it is run beside the tests",
    "CONTRIBUTING.md: make test\n": "it runs these pages",
    "infra/deploy/README.md: docker": "it wants Docker and images from the Internet; tests/deploy reads the files",
    "infra/deploy/README.md: SEGUE_UID=": "the same",
    "docs/web-push.md: const registration": "a push service on the Internet would be asked; tests/notification/channels has its own",
    "docs/web-push.md: self.addEventListener": "it belongs into the worker of the script above it",
    "docs/operations.md: curl -X POST": "there is no dead letter where all is well; tests/notification/test_sending.py replays one",
    "docs/failure.md: segue drill": "it takes three minutes; tests/segue/drill plays short rows in both ways",
    "docs/demo.md: make demo\n": "README.md makes one",
    "docs/demo.md: make demo STORE=cassandra": "tests/segue/demo/test_second_act.py plays it on a real Cassandra",
    "docs/overlay.md: segue overlay": "a whole report takes an hour; tests/segue/cli/overlay runs each command",
    "docs/planning.md: segue plan": "README.md plans so",
    "docs/characterize.md: segue analyze compare": "the two are not characterized here; README.md compares",
}

# What runs in another form: a piece of a command as printed, how it is run, and why.
_ONCE: Final = "Spark takes long to start, and README.md characterizes; the trace is looked at all the same"
REPLACED: Final = {
    r"^make demo$": (r'make demo ARGS="--users 100 --seconds 2"', "fewer users, and not so long"),
    r"--seconds 60 --speed 5": (r"--users 100 --seconds 2 --speed 5", "the same"),
    r"^segue demo --capture": (r"segue demo --users 100 --seconds 2 --capture", "the same"),
    r"^segue demo --users 200": (r"segue demo --seconds 2 --users 200", "the same"),
    r"--profile spotify --scale 1/\d+": (r"--profile spotify --scale 1/10000 --publications 10000 --sessions 10000", "a small trace"),
    r"--profile twitter --scale 1/100\b": (r"--profile twitter --scale 1/2000", "the same"),
    r"--speed 600 --users 500 --seconds 18000": (r"--speed 600 --users 500 --seconds 1800", "three seconds instead of thirty"),
    r"^segue analyze generate (\S+) --scale 1/100\b": (r"segue analyze generate \1 --scale 1/10000", "a small trace"),
    r"^segue analyze characterize (build/(?:recorded|lastfm|demo|generated))$": (r"segue analyze validate \1", _ONCE),
    r"(-m 'not slow[^']*')": (r"\1 tests/broker", "what is marked is the same in all folders, and to collect them takes long"),
    r'^make test ARGS="(?!-n 0)': (r'make test ARGS="--collect-only --quiet ', "what it names is there; all tests run anyway"),
}


def is_server(command: str) -> str | None:
    """Returns what a command prints once it serves; None if it ends by itself."""
    return next((ready for pattern, ready in SERVERS.items() if re.match(pattern, command)), None)


def why_not(page: str, text: str) -> str | None:
    """Returns why a command or a script of a page does not run here; None if it does."""
    return next((reason for entry, reason in NOT_RUN.items() if f"{page}: {text}\n".startswith(entry)), None)


def as_run(command: str) -> str:
    """Returns a command as it is run here."""
    for printed, (run, _) in REPLACED.items():
        command = re.sub(printed, run, command)
    return command

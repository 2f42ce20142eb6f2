"""What the window of the last events costs: the social mix, whose topics are all recorded, with and without it."""

from functools import partial
from typing import Final

from ..comparison import Comparison, Contender
from ..plan import Go
from ..runner import Runner
from ..servers.segue import three_processes
from ..table import MarkdownTable

MOST: Final = 1.03
ON, OFF = "with a window", "without"
PLAN: Final = {"publishing": "ndjson", "batch": 32}


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures three processes with the default windows and with none, in turn, so that each pair gives one ratio."""
    contenders = [
        Contender(OFF, partial(three_processes, arguments=["--set", "broker.window={}"]), PLAN),
        Contender(ON, three_processes, PLAN, {OFF: MOST}),
    ]
    comparison = Comparison(runner, "window", contenders, Go(seconds=runner.seconds(5)))
    return [comparison.table("Window of the last events: three processes, HTTP batches of 32, social mix", absent=False)]

"""The access point alone, fed by a link: the social mix."""

from ..comparison import Comparison, Contender, peers
from ..plan import Go
from ..runner import Runner
from ..servers.segue import access_point
from ..table import MarkdownTable


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures an access point whose aggregator the generator plays on TCP. Only the access point's CPU counts."""
    ours = Contender("access point", access_point, {"publishing": "link"}, {"nats": 0.5})
    comparison = Comparison(runner, "access_point", [ours, *peers(runner, ["nats"])], Go(seconds=runner.seconds(5)))
    return [comparison.table("Access point fed by a link, social mix")]

"""TLS at the door of an access point: CPU for each delivery, memory of an idle connection, connects a second."""

from functools import partial

from ..comparison import Comparison, Contender
from ..plan import Go
from ..runner import Runner
from ..servers.peers import PEERS, nats_over_tls
from ..servers.segue import access_point, one_process, one_process_over_tls
from ..table import MarkdownTable, spread
from .connects import connects_per_s
from .memory import kb_per_connection

MOST_CPU: float = 1.5


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures an access point with TLS beside the same in plain, and NATS with TLS where it is there."""
    return [_deliveries(runner), _memory(runner), _connects(runner)]


def _deliveries(runner: Runner) -> MarkdownTable:
    """Returns the CPU for each delivery, of an access point whose aggregator the generator plays on TCP."""
    plain = Contender("plain", access_point, {"publishing": "link"})
    tls = Contender("TLS", partial(access_point, tls=True), {"publishing": "link"}, {"plain": MOST_CPU})
    comparison = Comparison(runner, "tls", [plain, tls], Go(seconds=runner.seconds(5)))
    return comparison.table("TLS at the door of an access point fed by a link, social mix", absent=False)


def _servers(runner: Runner) -> list[Contender]:
    nats = [] if runner.missing("nats") or "nats" not in runner.peers else [Contender("nats, TLS", nats_over_tls, {})]
    return [Contender("segue, plain", one_process, {}), Contender("segue, TLS", one_process_over_tls, {}), *nats]


def _memory(runner: Runner) -> MarkdownTable:
    servers = _servers(runner)
    found = {each.who: [kb_per_connection(runner, each, run) for run in range(runner.runs)] for each in servers}
    rows = [[who, spread(figures, ".1f")] for who, figures in found.items()]
    return MarkdownTable("Memory per idle connection with TLS", ["server", "KB (1 024 bytes) per connection"], rows)


def _connects(runner: Runner) -> MarkdownTable:
    found = connects_per_s(runner, "tls", _servers(runner))
    rows = [[who, *figures] for who, figures in found.items()]
    if "nats" in runner.peers and (why := PEERS["nats"].missing(runner.setting)):
        rows.append(["nats, TLS", why, ""])
    return MarkdownTable("Connects with TLS", ["server", "connects/s", "server CPU ms per connect"], rows)

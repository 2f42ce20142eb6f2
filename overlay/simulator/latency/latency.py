"""The latencies of a simulation, in a form that kernels can read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay.protocol import chance
from overlay.protocol.buffer import Buffer

from ..draws import Draws, Stream
from ..errors import OverlayError
from ..graphs.reading import DATA
from .round_trips import read_round_trips

# Places of the settings, and of the streams that `one_way_us` needs.
HOSTS: Final = 0
LOW_US: Final = 1
HIGH_US: Final = 2
JITTER_PERMILLE: Final = 3
SEED: Final = 4
SETTINGS: Final = 5
STREAMS: Final = 2
# Links have streams of their own, with numbers beyond those of nodes and of purposes.
_FIRST_LINK: Final = 1 << 50
_NODE_BITS: Final = 24
_LARGEST_MS: Final = 2_000_000.0
_HOP_MS: Final = 0.001
_PLANETLAB: Final = "netlatency/PlanetLabData_18.gz"
_SEATTLE: Final = "netlatency/SeattleData_540.gz"


class LatencyTimes(NamedTuple):
    """The four buffers of a `MessageLatency`, as kernels take them."""

    settings: Buffer
    table_us: Buffer
    host_of: Buffer
    streams: Buffer


@dataclass(frozen=True, eq=False)
class MessageLatency:
    """Times that messages take one way. `one_way_us` reads its four buffers.

    - `settings`: SETTINGS numbers. HOSTS is 0 where times are drawn by link; a link is two nodes, whichever of them sends.
    - `table_us`: from host i to host j, at `i * HOSTS + j`. `host_of`: of each node.
    - `streams`: STREAMS places. The first is the stream of jitter.
    """

    settings: NDArray[np.int64]
    table_us: NDArray[np.int32]
    host_of: NDArray[np.int32]
    streams: NDArray[np.int64]

    @property
    def hosts(self) -> int:
        """The number of hosts; 0 where times are drawn by link."""
        return int(self.settings[HOSTS])

    @property
    def times(self) -> LatencyTimes:
        """What kernels read."""
        return LatencyTimes(self.settings, self.table_us, self.host_of, self.streams)


def planetlab(nodes: int, seed: int, data: Path = DATA) -> MessageLatency:
    """Returns the latencies between 490 hosts at universities. Raises OverlayError where they are not in the folder `data`."""
    return between_hosts(read_round_trips(_there(data / _PLANETLAB), "ms"), nodes, seed)


def seattle(nodes: int, seed: int, data: Path = DATA) -> MessageLatency:
    """Returns the latencies between 99 personal devices. Raises OverlayError where they are not in the folder `data`."""
    return between_hosts(read_round_trips(_there(data / _SEATTLE), "s", fills_zeros=True), nodes, seed)


def between_hosts(one_way_us: NDArray[np.int32], nodes: int, seed: int) -> MessageLatency:
    """Returns the latencies of nodes that are put on hosts at random, on each host as many as on any other, or one less.

    `one_way_us`: as `read_round_trips` returns it.
    """
    hosts, draws = len(one_way_us), Draws(seed, Stream.HOSTS)
    # Where there are fewer nodes than hosts, the hosts are random ones, too.
    host_of = draws.shuffled(draws.order(hosts)[np.arange(nodes) % hosts])
    return _latency(np.array([hosts, 0, 0, 0, seed]), one_way_us.ravel(), host_of.astype(np.int32), seed)


def by_link(low_ms: float, high_ms: float, *, jitter: float = 0.0, seed: int) -> MessageLatency:
    """Returns latencies that are drawn for each link, evenly between `low_ms` and `high_ms`. With jitter, each message takes a bit longer.

    - `jitter`: the longest delay beyond that of the link, as a share of it. OV-3 has 10 to 150 ms, and 0.1.

    Raises OverlayError for numbers that make no sense.
    """
    if not 0 <= low_ms <= high_ms <= _LARGEST_MS:
        raise OverlayError(f"latencies from {low_ms:g} to {high_ms:g} ms: give 0 to {_LARGEST_MS:,.0f} ms, the smaller number first")
    if not 0 <= jitter <= 1:
        raise OverlayError(f"jitter {jitter:g}: give a share from 0 to 1; 0.1 makes messages up to 10 % later")
    settings = np.array([0, round(1000 * low_ms), round(1000 * high_ms), round(1000 * jitter), seed])
    return _latency(settings, np.zeros(1, np.int32), np.zeros(1, np.int32), seed)


def constant(ms: float) -> MessageLatency:
    """Returns the same latency for each message. Raises OverlayError for a number that makes no sense."""
    return by_link(ms, ms, seed=0)


def times_of(latency: MessageLatency | None) -> LatencyTimes:
    """Returns what kernels read. Without a latency each message takes a microsecond, so that times are hops."""
    return (latency or constant(_HOP_MS)).times


def takes_us(times: LatencyTimes, sender: int, receiver: int) -> int:
    """Returns how long a message takes from `sender` to `receiver`."""
    return one_way_us(times.settings, times.table_us, times.host_of, times.streams, sender, receiver)


def one_way_us(settings: Buffer, table_us: Buffer, host_of: Buffer, streams: Buffer, sender: int, receiver: int) -> int:
    """Returns how long a message takes from `sender` to `receiver`.

    `settings`, `table_us`, `host_of`, `streams`: those of a `MessageLatency`.
    """
    hosts = settings[HOSTS]
    if hosts > 0:
        return table_us[host_of[sender] * hosts + host_of[receiver]]
    low, spread = settings[LOW_US], settings[HIGH_US] - settings[LOW_US]
    if spread > 0:
        link = (min(sender, receiver) << _NODE_BITS) | max(sender, receiver)
        chance.begin(streams, 1, settings[SEED], _FIRST_LINK | link)
        low += chance.below(streams, 1, spread + 1)
    most = low * settings[JITTER_PERMILLE] // 1000
    if most > 0:
        low += chance.below(streams, 0, most + 1)
    return low


def _latency(settings: NDArray[np.int64], table_us: NDArray[np.int32], host_of: NDArray[np.int32], seed: int) -> MessageLatency:
    streams = np.zeros(STREAMS, np.int64)
    streams[0] = Draws(seed, Stream.JITTER).state[0]
    return MessageLatency(settings, np.ascontiguousarray(table_us), host_of, streams)


def _there(path: Path) -> Path:
    if not path.exists():
        raise OverlayError(f"{path}: is missing; only a checkout of the project has it. Name a file of round trips of your own instead")
    return path

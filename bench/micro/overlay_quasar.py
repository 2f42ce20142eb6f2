"""`python -m bench.micro.overlay_quasar RUNS` times the events of Quasar's figures 3 and 4, so many for each point."""

import sys
import time

import msgspec

from overlay.simulator.quasar.runs import KINDS, SIZES, coverage_runs


class QuasarFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The seconds of processor time for all points, and how many steps messages went. Kernels are compiled before."""

    seconds: float
    events: int
    messages: int

    def plain(self) -> dict[str, float]:
        """Returns the figures by name."""
        return msgspec.structs.asdict(self)


def measure(runs: int) -> QuasarFigures:
    """Publishes `runs` events for each size of the system and each kind of groups."""
    list(coverage_runs(SIZES[0], "100", 1, 1))
    started_s = time.process_time()
    found = [run for nodes in SIZES for kind in KINDS for run in coverage_runs(nodes, kind, runs, 1)]
    return QuasarFigures(seconds=time.process_time() - started_s, events=len(found), messages=sum(run.messages for run in found))


if __name__ == "__main__":
    print(msgspec.json.encode(measure(int(sys.argv[1]))).decode())

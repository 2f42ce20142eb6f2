"""A row of the drill with real processes: all of a site are restarted, one after the other, under load."""

import random

import msgspec
import pytest

from infra.kernel.membership import Timing
from segue.cluster.shape import SITES, Shape
from segue.drill.load import WINDOW
from segue.drill.nodes import DrillWindows
from segue.drill.play import play
from segue.drill.process_nodes import ProcessNodes
from segue.drill.rows import ladder

# On a busy machine a process may not get its turn for seconds, and is not dead.
PATIENT = Timing(suspect_s=5.0, dead_s=10.0)


def processes(rng: random.Random, shape: Shape, windows: DrillWindows) -> ProcessNodes:
    return ProcessNodes(shape, windows)


@pytest.mark.e2e
@pytest.mark.slow
async def test_a_rolling_restart_of_all_roles_costs_clients_that_recover_no_event() -> None:
    """DPS-16, DPS-32: 0 lost of kinds with a window, 0 twice, in order, and nobody is told of a gap."""
    row = next(row for row in ladder(1.0) if row.name == "rolling-restart-all")
    shape = msgspec.structs.replace(row.shape, sites=SITES[:1], membership=PATIENT)
    outcome = await play(row._replace(shape=shape), processes, 1)
    assert outcome.is_good, outcome.measured
    assert outcome.row.promised(WINDOW).missing == outcome.row.promised(WINDOW).told == 0
    assert outcome.measured[WINDOW].delivered > 200

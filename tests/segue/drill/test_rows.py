"""The ladder as data."""

import random

from infra.kernel.roles import ACCESSPOINT
from segue.drill.local_nodes import LocalNodes
from segue.drill.nodes import SHAPE, name_of
from segue.drill.process_nodes import ProcessNodes
from segue.drill.rows import BOTH, USED, ladder

NAMES = {name_of(options) for options in SHAPE.options()} | {*SHAPE.sites, ""}


def test_rows_name_nodes_that_exist_and_acts_that_can_be_done() -> None:
    rows = ladder(30.0)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert set(row.ways) <= set(BOTH)
        assert {step.node for step in row.steps} | {step.other for step in row.steps} <= NAMES, row.name
        acts = {step.act for step in row.steps} - {"mark", "wait", "repeat", "random"}
        for nodes in (LocalNodes, ProcessNodes):
            assert all(hasattr(nodes, act) for act in acts), row.name


def test_a_row_says_how_long_it_waits() -> None:
    assert ladder(30.0)[-1].seconds == 35.0
    assert next(row for row in ladder(1.0) if row.name == "clock").seconds == 4.0


def test_every_row_promises_that_nothing_comes_twice_out_of_order_or_is_lost_without_a_sign() -> None:
    for row in ladder(1.0):
        assert (row.no_window.twice, row.no_window.out_of_order, row.no_window.undetected) == (0, 0, 0), row.name


async def test_the_aggregator_that_is_killed_is_the_one_that_is_used() -> None:
    async with LocalNodes(random.Random(1)) as nodes:
        await nodes.ready()
        points = [role for role in nodes.roles.values() if (role.role, role.site) == (ACCESSPOINT, "sto")]
        assert {point.upstream.source.address for point in points} == {USED}

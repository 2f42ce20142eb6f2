"""The ladder as data."""

import random
from pathlib import Path

from broker.options import BrokerOptions
from infra.kernel.roles import ACCESSPOINT
from segue.drill.load import COPIED, KINDS, WINDOW
from segue.drill.local_nodes import LocalNodes
from segue.drill.nodes import COPIES, SHAPE, drill_options, name_of
from segue.drill.process_nodes import ProcessNodes
from segue.drill.rows import BOTH, ONE_PROCESS, ONLY, PROCESSES, USED, ladder
from segue.drill.table import said

ROOT = Path(__file__).resolve().parents[3]
WAYS = {ONE_PROCESS: LocalNodes, PROCESSES: ProcessNodes}


def test_rows_name_nodes_that_exist_and_acts_that_can_be_done() -> None:
    rows = ladder(30.0)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.ways, row.name
        names = {name_of(options) for options in row.shape.options()} | {*row.shape.sites, ""}
        assert {step.node for step in row.steps} | {step.other for step in row.steps} | {*row.later} <= names, row.name
        if row.tells is not None:
            assert {row.tells.site} | {f"{row.tells.site}/{slot}" for slot in row.tells.slots} <= names, row.name


def test_a_row_that_tells_travellers_has_some_and_whoever_is_to_be_told_is_promised_it() -> None:
    """DPS-32: of both kinds with a window, unless an heir goes on."""
    for row in ladder(30.0):
        assert row.tells is None or row.tells.to == "everybody" or row.travels, row.name
        told = {kind for kind in KINDS if row.promised(kind).untold is not None}
        assert told == (set() if row.tells is None else {WINDOW} if row.name == "owner-killed" else {WINDOW, COPIED}), row.name


def test_windows_of_rows_are_such_as_brokers_take() -> None:
    for row in ladder(30.0):
        for options in drill_options(row.shape, row.windows):
            if isinstance(options, BrokerOptions):
                options.check()
                assert {kind: bounds.copies for kind, bounds in options.window.items()} == COPIES


def test_what_only_some_nodes_can_do_is_what_the_others_have_not() -> None:
    """DPS-32: a row is played in every way in which its steps can be done; cuts in both."""
    rows = {row.name: row for row in ladder(1.0)}
    acts = {step.act for row in rows.values() for step in row.steps} - {
        "mark",
        "wait",
        "repeat",
        "random",
        "settle",
        "away",
        "back",
        "weigh",
    }
    for way, nodes in WAYS.items():
        assert {act for act in acts if hasattr(nodes, act)} == {act for act in acts if ONLY.get(act, way) == way}
    assert rows["sites-cut-20"].ways == rows["site-split"].ways == BOTH
    assert rows["clock"].ways == (ONE_PROCESS,)
    assert rows["broker-hung"].ways == (PROCESSES,)


def test_the_parts_of_a_site_that_is_split_do_not_reach_each_other_at_all() -> None:
    row = next(row for row in ladder(1.0) if row.name == "site-split")
    pairs = {(step.node, step.other) for step in row.steps if step.act == "cut"}
    assert len(pairs) == 9
    assert {one[-1] for one, _ in pairs} == {"1"}
    assert {other[-1] for _, other in pairs} == {"2"}
    assert {step.seconds for step in row.steps if step.act == "cut"} == {0.0}


def test_a_row_says_how_long_it_waits() -> None:
    assert ladder(30.0)[-1].seconds == 35.0
    assert next(row for row in ladder(1.0) if row.name == "clock").seconds == 4.0


def test_every_row_promises_that_nothing_comes_twice_or_out_of_order_and_all_but_one_that_nothing_is_lost_without_a_sign() -> None:
    for row in ladder(1.0):
        for kind in KINDS:
            assert (row.promised(kind).twice, row.promised(kind).out_of_order) == (0, 0), row.name
    assert {row.name for row in ladder(1.0) if row.no_window.undetected != 0} == {"site-split", "site-split-linked"}


async def test_the_aggregator_that_is_killed_is_the_one_that_is_used() -> None:
    async with LocalNodes(random.Random(1), SHAPE) as nodes:
        await nodes.ready()
        points = [role for role in nodes.roles.values() if (role.role, role.site) == (ACCESSPOINT, "sto")]
        assert {point.upstream.source.address for point in points} == {USED}


def test_the_page_has_every_row_and_what_it_promises() -> None:
    """DPS-32: the table of docs/failure.md says what the rows say, and has figures of each way in which a row is played."""
    page = (ROOT / "docs/failure.md").read_text()
    lines = page[page.index("## The drill") : page.index("## What a service should do")].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    rows = ladder(30.0)
    assert [row[0] for row in cells[2:]] == [row.what for row in rows]
    for written, row in zip(cells[2:], rows, strict=True):
        for first, kind in enumerate(KINDS):
            promised, *found = written[1 + 3 * first : 4 + 3 * first]
            assert promised == said(row, kind), row.name
            assert row.is_long or [cell != "-" for cell in found] == [way in row.ways for way in BOTH], row.name


def test_the_page_of_promises_has_a_column_for_each_kind_and_says_the_same() -> None:
    """DPS-32: docs/promises.md and the drill promise the same, with and without copies."""
    page = (ROOT / "docs/promises.md").read_text()
    table = page[page.index("## What a failure costs") :]
    lines = table[table.index("| what goes wrong |") :].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["what goes wrong", "no window", "window, `copies = 0`", "`copies = 1`"]
    assert cells[2:] == [[row.what, *(said(row, kind) for kind in KINDS)] for row in ladder(30.0)]

"""The study of Scribe beside PolderCast, at its smallest."""

import numpy as np
import pytest

from overlay.report.studies.scribe import SCRIBE, plots
from tests.support.tiny_studies import tiny


def test_trees_of_friends_reach_everybody_once_over_relays() -> None:
    """P2P-33, P2P-34, and the small form of P2P-17: exactly no duplicates, more hops than `mixed` even among 200 nodes."""
    result = tiny(SCRIBE)
    found = {each.requirement: each for each in result.claims}
    assert (found["P2P-33"].holds, found["P2P-34"].holds) == (True, True)
    assert "; 0 duplicates" in found["P2P-17"].measured
    hops = {row[0]: row for row in result.table("hops").rows}
    assert hops["scribe"][2] == 1
    assert float(hops["mixed"][3]) > 1


def test_each_share_of_hops_and_of_nodes_is_one_of_all() -> None:
    """P2P-24, in small: nothing that PolderCast's nodes receive is unwanted, and most of Scribe's nodes receive such."""
    result = tiny(SCRIBE)
    by_hops = np.array([[float(cell) for cell in row] for row in result.table("by-hops").rows])
    assert by_hops[:, 1:].sum(0) == pytest.approx([100, 100])
    unwanted = np.array([[float(cell) for cell in row] for row in result.table("unwanted").rows])
    assert (np.diff(unwanted, axis=0)[:, 1:] <= 0).all()
    assert not unwanted[:, 1].any()
    assert unwanted[0, 2] > 90
    assert (unwanted[:, 3] >= unwanted[:, 2]).all()


def test_scribe_sends_more_control_messages_in_proportion_to_its_trees() -> None:
    """P2P-23, in small."""
    result = tiny(SCRIBE)
    control = np.array([[float(cell) for cell in row] for row in result.table("control").rows])
    assert (control[:, 2] > control[:, 1]).all()
    (told,) = (each.measured for each in result.claims if each.requirement == "P2P-23")
    assert float(told.split("R² ")[1].split(" ")[0]) >= 0.9


def test_only_full_size_is_judged_by_numbers_of_the_paper() -> None:
    judged = {each.requirement for each in tiny(SCRIBE).claims if each.holds is not None}
    assert judged == {"P2P-33", "P2P-34"}
    assert len(plots(tiny(SCRIBE))) == 4

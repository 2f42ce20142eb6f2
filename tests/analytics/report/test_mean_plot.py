"""The guides that means are compared with."""

import numpy as np
import pytest

from analytics.figures import FIGURES
from analytics.report.curves import Curve
from analytics.report.mean_plot import plot, some, through_middle
from tests.support.characterizations import SUMMARY


def test_a_line_through_the_middle_adds_up_to_what_the_data_do() -> None:
    means = Curve({"value": np.array([1.0, 2.0, 10.0]), "n": np.array([5.0, 3.0, 1.0]), "mean": np.array([2.0, 4.0, 20.0])})

    assert through_middle(means, 1.0)[1] == pytest.approx([2.0, 20.0])
    assert through_middle(means, 0.0)[1] == pytest.approx([42 / 9, 42 / 9])


def test_of_many_rows_some_are_drawn_and_both_ends_are_among_them() -> None:
    curve = Curve({"value": np.arange(5000.0)})

    drawn = some(curve, 800)["value"]

    assert len(drawn) == 800
    assert (drawn[0], drawn[-1]) == (0, 4999)
    assert some(curve, 5000) is curve


def test_one_mean_has_no_line_through_it() -> None:
    means = Curve({"value": np.array([1.0]), "n": np.array([2.0]), "mean": np.array([50.0])})

    drawn = plot(FIGURES["size_nnr"], means, None, SUMMARY)

    assert [key.label for key in drawn.keys] == ["mean at each value of x"]

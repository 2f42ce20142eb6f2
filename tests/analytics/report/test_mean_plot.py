"""What means are held against."""

import numpy as np
import pytest

from analytics.report.curves import Curve
from analytics.report.mean_plot import some, through_middle


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

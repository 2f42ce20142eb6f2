"""The line of a fit."""

import numpy as np
import pytest

from analytics.report.curves import Curve
from analytics.report.distribution_plot import tail
from tests.support.characterizations import FIT


def test_a_fit_is_drawn_from_xmin_on_as_steep_as_its_exponent() -> None:
    value = np.arange(1, 1001, dtype=np.float64)
    curve = Curve({"value": value, "ccdf": value**-1.1})

    x, y = tail(FIT, curve)

    assert x.tolist() == [3.0, 1000.0]
    assert y[0] == pytest.approx(3**-1.1)
    assert y[1] == pytest.approx(1000**-1.1), "exponent 2.1 of the density is 1.1 of the CCDF"


def test_a_fit_is_not_drawn_beneath_what_the_curve_shows() -> None:
    value = np.array([1.0, 3.0, 10_000.0])
    curve = Curve({"value": value, "ccdf": np.array([1.0, 0.5, 0.05])})

    x, y = tail(FIT, curve)

    assert y == pytest.approx([0.5, 0.05])
    assert x[1] == pytest.approx(3 * 10 ** (1 / 1.1))

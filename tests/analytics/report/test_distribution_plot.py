"""The line of a fit."""

import msgspec
import numpy as np
import pytest
from scipy.special import zeta

from analytics.figures import FIGURES
from analytics.fitting.tail import fit_tail
from analytics.report.curves import Curve
from analytics.report.distribution_plot import plot, tail
from tests.support.characterizations import FIT, SUMMARY, ccdf


def test_a_fit_is_drawn_from_xmin_on_as_steep_as_its_exponent() -> None:
    value = np.arange(1, 1001, dtype=np.float64)
    law = zeta(2.1, value) / zeta(2.1, 1)
    curve = Curve({"value": value, "ccdf": law})

    x, y = tail(FIT, curve)

    assert (x[0], x[-1]) == (3.0, 1000.0)
    assert y == pytest.approx(law[x.astype(int) - 1]), "it is the law of whole numbers itself"
    assert np.log10(y[-1] / y[x == 100]) == pytest.approx(-1.1, rel=0.01), "exponent 2.1 of the density is 1.1 of the CCDF"


def test_a_fit_is_not_drawn_beneath_what_the_curve_shows() -> None:
    value = np.array([1.0, 3.0, 10_000.0])
    curve = Curve({"value": value, "ccdf": np.array([1.0, 0.5, 0.05])})

    x, y = tail(FIT, curve)

    assert (x[0], y[0]) == (3.0, pytest.approx(0.5))
    assert 0.05 <= y[-1] < 0.055


def test_a_single_value_is_a_dot_that_can_be_seen() -> None:
    found = ccdf(np.array([3, 3]))
    curve = Curve({name: np.asarray(column, dtype=np.float64) for name, column in found.items()})

    drawn = plot(FIGURES["size"], curve, msgspec.structs.replace(SUMMARY, fits={}))

    assert 'style="fill: var(--series-1)' in drawn.svg
    assert drawn.notes == ("All have the same value, 3: the curve is one point.",)


def test_without_a_fit_there_is_no_line_of_one() -> None:
    """Of two values nothing can be fitted, and the curve is drawn nevertheless."""
    found = ccdf(np.array([1, 2]))
    curve = Curve({name: np.asarray(column, dtype=np.float64) for name, column in found.items()})
    nothing = fit_tail(np.array([1, 2]), discrete=True, rng=np.random.default_rng(1), bootstraps=0)

    drawn = plot(FIGURES["size"], curve, msgspec.structs.replace(SUMMARY, fits={"size": nothing}))

    assert [key.label for key in drawn.keys] == ["this trace"]

"""Power laws in tails: the verdicts, and the fast fitter against the library."""

import time
import warnings
from typing import Any

import msgspec
import numpy as np
import powerlaw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import zeta

from analytics.fitting.bootstrap import p_value
from analytics.fitting.power_law import PowerLaw, best, draw, log_likelihoods
from analytics.fitting.tail import TOO_FEW, fit_tail, verdict
from analytics.fitting.truncated import log_likelihoods as truncated_likelihoods
from analytics.fitting.truncated import log_norm
from analytics.summary import LikelihoodRatio, TailFit


def fitted(values: NDArray[Any], *, discrete: bool = True, bootstraps: int = 0) -> TailFit:
    return fit_tail(values, discrete=discrete, rng=np.random.default_rng(0), bootstraps=bootstraps)


def test_a_power_law_is_plausible() -> None:
    found = fitted(np.random.default_rng(1).zipf(2.35, 10_000), bootstraps=30)
    assert found.verdict == "a power law is plausible"
    assert found.alpha == pytest.approx(2.35, abs=3 * found.sigma)
    assert found.p_value is not None
    assert found.p_value > 0.1
    assert found.bootstraps == 30
    assert found.against.keys() == {"lognormal", "truncated_power_law"}


def test_what_is_equally_often_is_none() -> None:
    found = fitted(np.repeat([1, 2, 3], 500), bootstraps=20)
    assert found.p_value == 0
    assert found.against["lognormal"].ratio < 0


def test_a_steep_power_law_is_one_too() -> None:
    """The library looks for exponents up to 3 only, and has no digits left for this one: 1 - zeta(7, 15000) is 1. But it ends soon."""
    found = fitted(draw(PowerLaw(15_000.0, 7.0, 0.0, 1), 5000, discrete=True, rng=np.random.default_rng(1)), bootstraps=20)
    assert found.p_value is not None
    assert found.p_value > 0.1
    assert found.verdict == "0.6 decades are too short to tell"
    assert found.alpha == pytest.approx(7, abs=4 * found.sigma)


def test_a_cut_off_is_seen() -> None:
    rng = np.random.default_rng(2)
    values = np.floor(1 / (1 - rng.random(40_000)))
    values = values[rng.random(40_000) < np.exp(-values / 200)]
    found = fitted(values)
    assert found.verdict == "undecided: a truncated power law fits better"
    assert found.p_value is None


@pytest.mark.parametrize("discrete", [True, False])
def test_the_fast_fitter_finds_what_the_library_finds(discrete: bool) -> None:
    """With all distinct values as candidates the result would be the same. With fifty of them the distance is little more."""
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.integers(1, 12, 1500), 12 * (1 - rng.random(1500)) ** (-1 / 1.4)]).astype(np.float64)
    values = np.sort(np.floor(values) if discrete else values)
    found = best(values, discrete=discrete)
    assert found is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fixed = powerlaw.Fit(values, discrete=discrete, xmin=found.xmin, verbose=0).power_law
        free = powerlaw.Fit(values, discrete=discrete, xmin=(np.unique(values)[:120][[0, -1]]), verbose=0)
        likelihoods = fixed.loglikelihoods(values[values >= found.xmin])
    assert log_likelihoods(found, values[values >= found.xmin], discrete=discrete).sum() == pytest.approx(likelihoods.sum(), abs=0.01)
    assert found.alpha == pytest.approx(fixed.alpha, abs=0.002)
    assert found.ks == pytest.approx(fixed.D, abs=0.001)
    assert found.ks <= free.D + 0.005
    if discrete:
        assert found.xmin == free.xmin == pytest.approx(12, abs=1)


@pytest.mark.parametrize(("alpha", "xmin"), [(1.3, 1.0), (2.4, 1.0), (2.0, 7.0), (3.5, 40.0)])
def test_what_is_drawn_follows_the_law(alpha: float, xmin: float) -> None:
    drawn = draw(PowerLaw(xmin, alpha, 0.0, 1), 40_000, discrete=True, rng=np.random.default_rng(4))
    assert drawn.min() == xmin
    for at in (xmin + 1, 3 * xmin, 10 * xmin, 5000 + xmin):
        expected = float(zeta(alpha, at) / zeta(alpha, xmin))
        assert np.mean(drawn >= at) == pytest.approx(expected, abs=4 * np.sqrt(expected / 40_000) + 1e-9)


@pytest.mark.parametrize("discrete", [True, False])
def test_the_p_of_true_power_laws_is_spread_evenly(discrete: bool) -> None:
    found = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        values = (rng.zipf(2.2, 300) if discrete else rng.pareto(1.2, 300) + 1).astype(np.float64)
        law = best(values, discrete=discrete)
        assert law is not None
        found.append(p_value(values, law, discrete=discrete, rng=rng, bootstraps=10))
    assert 0.3 < np.mean(found) < 0.7


@pytest.mark.parametrize(("alpha", "rate", "xmin"), [(0.5, 0.01, 1), (1.0, 1e-3, 5), (2.4, 1e-4, 1), (1.5, 0.5, 30)])
def test_the_norm_of_the_truncated_law_is_its_sum(alpha: float, rate: float, xmin: int) -> None:
    k = np.arange(xmin, xmin + int(60 / rate), dtype=np.float64)
    assert log_norm(alpha, rate, xmin, discrete=True) == pytest.approx(np.log(np.sum(k**-alpha * np.exp(-rate * k))), abs=1e-6)


def test_the_truncated_law_is_as_likely_as_that_of_the_library() -> None:
    rng = np.random.default_rng(6)
    tail = np.sort(2.0 * (1 - rng.random(400)) ** (-1 / 0.8))
    tail = tail[rng.random(400) < np.exp(-tail / 60)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = powerlaw.Fit(tail, xmin=2.0, verbose=0).truncated_power_law.loglikelihoods(tail).sum()
    assert truncated_likelihoods(tail, 2.0, discrete=False, alpha=1.8).sum() == pytest.approx(theirs, abs=0.01)


@pytest.mark.parametrize("values", [[0] * 100, [3] * 1000, list(range(50)), []])
def test_what_has_no_tail_has_too_few_values(values: list[int]) -> None:
    found = fitted(np.array(values, np.int64), bootstraps=5)
    assert found.verdict == TOO_FEW
    assert found.n == np.count_nonzero(values)
    assert found.p_value is None


def test_the_same_seed_gives_the_same() -> None:
    values = np.random.default_rng(1).zipf(1.9, 500)
    assert fitted(values, bootstraps=5) == fitted(values, bootstraps=5)


@settings(max_examples=10)
@given(values=st.lists(st.integers(0, 10**12), min_size=50, max_size=80), discrete=st.booleans())
def test_no_values_make_it_fail_and_all_numbers_can_be_written_down(values: list[int], discrete: bool) -> None:
    found = fitted(np.array(values), discrete=discrete, bootstraps=1)
    assert msgspec.json.decode(msgspec.json.encode(found), type=TailFit) == found
    assert 0 <= found.ks <= 1
    assert found.n_tail <= found.n


@settings(max_examples=20)
@given(factor=st.floats(1e-3, 1e3), seed=st.integers(0, 99))
def test_another_unit_changes_no_continuous_fit(factor: float, seed: int) -> None:
    values = np.random.default_rng(seed).pareto(1.5, 200) + 1
    one, other = best(values, discrete=False), best(values * factor, discrete=False)
    assert one is not None
    assert other is not None
    assert other.xmin == pytest.approx(one.xmin * factor)
    assert (other.alpha, other.ks) == pytest.approx((one.alpha, one.ks))


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    fitted(np.random.default_rng(1).zipf(1.2, 300))
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_twenty_thousand_values_with_fifty_bootstraps_take_six_seconds_of_one_core_at_most() -> None:
    values = np.floor(np.random.default_rng(1).lognormal(6.3, 1.8, 20_000)) + 1
    started = time.process_time()
    fitted(values, bootstraps=50)
    assert time.process_time() - started < 6


@pytest.mark.parametrize(
    ("p", "lognormal", "truncated", "said"),
    [
        (0.5, (2.0, 0.01), (-0.1, 0.8), "a power law is plausible"),
        (0.01, (2.0, 0.01), (-0.1, 0.8), "a power law is rejected"),
        (0.01, (-2.0, 0.04), (-0.1, 0.8), "a power law is rejected: a lognormal fits better"),
        (0.01, (-2.0, 0.04), (-3.0, 0.01), "a power law is rejected: a truncated power law fits better"),
        (0.5, (-2.0, 0.04), (-1.0, 0.2), "undecided: a lognormal fits better"),
        (None, (0.1, 0.9), (-0.1, 0.8), "undecided"),
    ],
)
def test_a_verdict_follows_from_stated_thresholds(
    p: float | None, lognormal: tuple[float, float], truncated: tuple[float, float], said: str
) -> None:
    against = {name: LikelihoodRatio(ratio=r, p=q) for name, (r, q) in (("lognormal", lognormal), ("truncated_power_law", truncated))}
    assert verdict(1.5, p, against) == said
    assert verdict(1.49, p, against) == "1.5 decades are too short to tell"


_RNG = np.random.default_rng(4)
NO_POWER_LAWS = {
    "uniformly random follows": np.bincount(_RNG.integers(0, 1000, 12_000)),
    "Poisson": _RNG.poisson(12, 3000),
    "binomial": _RNG.binomial(100, 0.1, 3000),
    "a narrow lognormal": np.exp(_RNG.normal(3, 0.5, 5000)).astype(np.int64),
}


@pytest.mark.parametrize("name", NO_POWER_LAWS)
def test_what_has_no_long_tail_is_never_called_a_power_law(name: str) -> None:
    """Within a factor of thirty anything that falls may pass for one: these do, with exponents of 5 to 15."""
    found = fitted(NO_POWER_LAWS[name], bootstraps=10)
    assert found.decades < 1.5
    assert not found.tells
    assert found.verdict == f"{found.decades:.1f} decades are too short to tell"


@pytest.mark.parametrize("exponent", [1.7, 2.0, 2.5])
def test_a_true_power_law_is_long_enough_to_be_told(exponent: float) -> None:
    found = fitted(np.random.default_rng(1).zipf(exponent, 3000), bootstraps=10)
    assert found.tells
    assert found.verdict == "a power law is plausible"


def test_a_wide_lognormal_is_told_from_a_power_law() -> None:
    found = fitted(np.exp(np.random.default_rng(0).normal(3, 1.8, 5000)).astype(np.int64), bootstraps=10)
    assert found.tells
    assert found.verdict.startswith("a power law is rejected")


def test_a_handful_of_replications_decide_nothing() -> None:
    assert fitted(np.random.default_rng(1).zipf(2.0, 3000), bootstraps=9).verdict == "undecided"

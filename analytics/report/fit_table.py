"""The power law that was fitted to the tail of a distribution, in numbers."""

from typing import Final

from analytics.numbers import number
from analytics.summary import LikelihoodRatio, TailFit
from infra.kernel.html import Html, joined

from .markup import element, table

_NAMES: Final = {"lognormal": "a lognormal", "truncated_power_law": "a power law with exponential cut-off"}


def fit_table(fit: TailFit) -> Html:
    """Returns estimates, goodness of fit, and the comparison with other distributions."""
    verdict = element("p", f"Verdict: {fit.verdict}.", class_="fit-verdict")
    if not fit.n_tail:
        return joined(element("h3", "Power law fitted to the tail"), verdict)
    head = ("fitted to", "from x =", "values above", "decades", "exponent", "KS distance", "goodness of fit")
    estimates = (
        f"{number(fit.n)} values",
        number(fit.xmin),
        number(fit.n_tail),
        f"{fit.decades:.1f}",
        f"{fit.alpha:.3f} ± {fit.sigma:.3f}",
        f"{fit.ks:.4f}",
        _goodness(fit),
    )
    return joined(
        element("h3", "Power law fitted to the tail"),
        verdict,
        table(head, [estimates], kind="numbers"),
        *([_against(fit.against)] if fit.against else []),
    )


def _against(others: dict[str, LikelihoodRatio]) -> Html:
    rows = [(_NAMES.get(name, name), f"{other.ratio:.2f}", _p(other.p), _better(other)) for name, other in others.items()]
    return table(("power law against", "log-likelihood ratio", "p", "which fits better"), rows, kind="numbers")


def _goodness(fit: TailFit) -> str:
    if fit.p_value is None:
        return "not tested"
    p = f"= {fit.p_value:.2f}" if fit.p_value else f"< {1 / fit.bootstraps:.2g}"
    return f"p {p} ({number(fit.bootstraps)} replications)"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _better(other: LikelihoodRatio) -> str:
    if other.p >= 0.1:
        return "cannot be told: p ≥ 0.1"
    return "the power law" if other.ratio > 0 else "the other"

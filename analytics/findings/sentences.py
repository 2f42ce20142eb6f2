"""A few words on what each figure shows, made of measures and fits."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Final

from analytics.figures import FIGURES
from analytics.summary import TailFit, WorkloadSummary
from infra.kernel.trace import SERVICES

from .telling import told

# A number in a clause: {measure:format}. A clause of which a measure is missing is left out.
_NUMBER: Final = re.compile(r"\{([^{}:]+):([^{}]*)\}")
_CLAUSES: Final[Mapping[str, tuple[str, ...]]] = {
    "popularity": (
        "a topic has {mean_subscribers_per_topic:,.1f} subscribers on average and {popularity.max:,.0f} at most",
        "a straight line explains {popularity.r2:.1%} of the curve over {popularity.decades:.1f} decades (slope {popularity.slope:.2f})",
    ),
    "size": (
        "a subscriber has {mean_topics_per_subscriber:,.1f} topics on average and {size.max:,.0f} at most",
        "a straight line explains {size.r2:.1%} of the curve over {size.decades:.1f} decades (slope {size.slope:.2f})",
    ),
    "rate": (
        "a topic has {mean_events_per_topic:,.1f} events on average and {rate.max:,.0f} at most",
        "topics with fewer than 10 events are {rate.share_below_10:.1%} of all",
        "two lines fit the curve best if they meet at {rate.knee_events:,.0f} events ({rate.knee_percent:.2g} % of all)",
    ),
    "nnr": (
        "of the subscribers who get anything the first gets {nnr.min_percent:.2g} % of all events and the last {nnr.max_percent:.2g} %",
        "less than 0.001 %, scaled to the number of topics, is what {nnr.share_low:.1%} of all get",
    ),
    "size_nnr": (
        "the mean NNR grows with the size to the power of {size_nnr.slope:.2f} ({size_nnr.slope.low:.2f} to {size_nnr.slope.high:.2f})",
    ),
    "popularity_rate": (
        "the mean number of events goes with the number of subscribers to the power of {popularity_rate.slope:.2f}"
        " ({popularity_rate.slope.low:.2f} to {popularity_rate.slope.high:.2f})",
        "topics with more than 100,000 subscribers have {popularity_rate.beyond:.0%} of the events that this line says",
    ),
    "local_remote": ("for each local publication there are {local_remote.ratio:.2f} that other sites get",),
    "churn": (
        "requests to subscribe and to unsubscribe are {churn.imbalance:.1%} apart",
        "most subscribe at about {churn.peak_hour:h} and fewest at about {churn.trough_hour:h}",
    ),
    "live": ("between days, at equal hours, the number of live subscriptions differs by {live.variation:.1%} at most",),
    "online": ("a user has {sessions.per_user_day:.2f} sessions a day",),
    "session_length": ("a session takes {sessions.mean_length_s:,.0f} seconds on average",),
}
# Words for a correlation, up to this |r|.
_RELATED: Final = (
    (0.05, "have nothing to do with each other"),
    (0.3, "go together weakly"),
    (0.6, "go together"),
    (math.inf, "go together closely"),
)


def sentence(key: str, summary: WorkloadSummary) -> str:
    """Returns in words what figure `key` shows, or why it is not there if nothing is known of it.

    Raises KeyError for a key that is no figure's.
    """
    known = {name: value for name, value in summary.measures.items() if math.isfinite(value)}
    clauses = [filled for each in _CLAUSES.get(key, ()) if (filled := _filled(each, known))]
    clauses += _more(key, known)
    if key in summary.fits:
        clauses.append(_fitted(summary.fits[key]))
    if clauses:
        return " ".join(f"{each[0].upper()}{each[1:]}." for each in clauses)
    title = FIGURES[key].title
    if reason := summary.skipped.get(key) or summary.manifest.limits.get(key):
        return f"{title}: not computed, because {reason.rstrip('.')}."
    return f"{title}: there is no number that sums it up."


def _filled(clause: str, known: Mapping[str, float]) -> str:
    if any(name not in known for name, _ in _NUMBER.findall(clause)):
        return ""
    return _NUMBER.sub(lambda found: told(known[found[1]], found[2]), clause)


def _fitted(fit: TailFit) -> str:
    if not fit.n_tail:
        return f"for a fit there are {fit.verdict}"
    share = "all values" if fit.n_tail == fit.n else f"the {told(fit.n_tail / fit.n, '.1%')} of the values from {_start(fit.xmin)} on"
    if not fit.tells:
        return f"for {share}, {fit.verdict} whether they follow a power law"
    said, colon, better = fit.verdict.partition(":")
    if said == "undecided":
        said = "a power law remains undecided"
    return f"for {share}, with an exponent of {fit.alpha:.2f}, {said}{_chance(fit)}{colon}{better}"


def _start(xmin: float) -> str:
    return f"{xmin:,.0f}" if xmin >= 100 else f"{xmin:.3g}"


def _chance(fit: TailFit) -> str:
    if fit.p_value is None:
        return ""
    return f" (p {fit.p_value:.2f})" if fit.p_value > 0 else f" (p below {1 / fit.bootstraps:.2g})"


def _more(key: str, known: Mapping[str, float]) -> list[str]:
    """Returns the clauses whose words depend on the numbers."""
    make = _MORE.get(key)
    return [each for each in make(known) if each] if make else []


def _correlated(key: str, both: str) -> Callable[[Mapping[str, float]], list[str]]:
    def clauses(known: Mapping[str, float]) -> list[str]:
        r = known.get(f"{key}.spearman")
        if r is None:
            return []
        if _open(known.get(f"{key}.spearman.low", r), known.get(f"{key}.spearman.high", r), r):
            said = f"whether {both} go together cannot be told from so few"
        else:
            words = next(words for most, words in _RELATED if abs(r) <= most)
            said = f"{both} {words}" + (", one falling as the other rises" if r < -_RELATED[0][0] else "")
        interval = _filled(f", {{{key}.spearman.low:.3f}} to {{{key}.spearman.high:.3f}}", known)
        return [f"{said} (Spearman {r:.3f}{interval})"]

    return clauses


def _open(low: float, high: float, r: float) -> bool:
    """Returns whether the interval leaves open what the correlation seems to say: that there is one, or that there is none."""
    (none, _), (weak, _), *_ = _RELATED
    return low <= 0 <= high if abs(r) > none else low < -weak or high > weak


def _shares(stem: str, of: str) -> Callable[[Mapping[str, float]], list[str]]:
    def clauses(known: Mapping[str, float]) -> list[str]:
        shares = {service: known[f"{stem}.{service}"] for service in SERVICES if f"{stem}.{service}" in known}
        parts = [f"{service} has {told(share, '.1%')}" for service, share in sorted(shares.items(), key=lambda each: -each[1])]
        return [f"{', '.join(parts)} {of}"] if parts else []

    return clauses


def _bends(known: Mapping[str, float]) -> list[str]:
    curvature, p = known.get("rate.curvature"), known.get("rate.curvature_p")
    if curvature is None or p is None:
        return []
    if p > 0.01:
        return ["the curve does not bend"]
    return [f"the curve bends {'down' if curvature < 0 else 'up'} (curvature {curvature:.2f}), so it is no single power law"]


def _by_service(clause: str) -> Callable[[Mapping[str, float]], list[str]]:
    """Returns a maker of `clause` for each service: `*` stands for the service."""
    return lambda known: [_filled(clause.replace("*", service), known) for service in SERVICES]


_MORE: Final[Mapping[str, Callable[[Mapping[str, float]], list[str]]]] = {
    "size_nnr": _correlated("size_nnr", "size and NNR"),
    "popularity_rate": _correlated("popularity_rate", "popularity and event rate"),
    "rate": _bends,
    "publications": _shares("publications.share", "of the publications"),
    "live": _shares("live.share", "of the live subscriptions"),
    "daily": _by_service("* publishes most at about {publications.peak_hour.*:h} and least at about {publications.trough_hour.*:h}"),
    "weekly": _by_service("* publishes {publications.weekend.*:.0%} as much on a day of the weekend as on a weekday"),
}

"""The findings, next to what a trace says."""

import math
import string
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import pytest

from analytics.figures import FIGURES
from analytics.findings import JudgedFinding, findings, sentence
from analytics.findings.judging import STATEMENTS
from analytics.findings.spotify import SPOTIFY
from analytics.findings.statement import SIZES, TraceFacts
from analytics.findings.telling import told
from analytics.findings.twitter import TWITTER
from analytics.measures import MEASURES
from analytics.summary import Filter, TailFit, WorkloadSummary
from infra.kernel.manifest import Manifest
from infra.kernel.trace import SERVICES

Profile = Literal["spotify", "twitter"]

AS_PUBLISHED: dict[Profile, dict[str, float]] = {
    "spotify": {
        "topics": 1.1e6,
        "subscribers": 4.9e6,
        "mean_subscribers_per_topic": 10.9,
        "mean_topics_per_subscriber": 2.45,
        "mean_events_per_topic": 2763,
        "popularity.r2": 0.99,
        "popularity.decades": 4.1,
        "popularity.slope": -0.93,
        "popularity.max": 245_000,
        "size.r2": 0.98,
        "size.decades": 3.1,
        "rate.curvature": -0.35,
        "rate.curvature_p": 1e-20,
        "rate.knee_percent": 0.0005,
        "rate.knee_events": 15_200,
        "nnr.share_low": 0.93,
        "nnr.max_percent": 0.2,
        "nnr.min_percent": 1e-7,
        "size_nnr.slope": 1.02,
        "size_nnr.slope.low": 1.0,
        "size_nnr.slope.high": 1.04,
        "popularity_rate.spearman": 0.002,
        "publications.daily_order": 1,
        "publications.spikes_per_day.artist": 1,
        "publications.share.presence": 0.8,
        "publications.share.playlist": 0.2,
        "publications.peak_hour.presence": 18.5,
        "publications.trough_hour.presence": 2.5,
        "publications.peak_hour.playlist": 17.5,
        "publications.trough_hour.playlist": 1.5,
        "publications.weekend.presence": 0.93,
        "publications.sunday.playlist": 1.04,
        "local_remote.ratio": 0.1,
        "churn.imbalance": 0.01,
        "churn.peak_hour": 19.5,
        "churn.trough_hour": 3.5,
        "churn.weekly_difference": 0.02,
        "live.variation": 0.03,
        "live.share.presence": 0.7,
    },
    "twitter": {
        "topics": 8e6,
        "subscribers": 30e6,
        "mean_subscribers_per_topic": 85.4,
        "mean_topics_per_subscriber": 22.8,
        "mean_events_per_topic": 56.9,
        "popularity.r2": 0.95,
        "popularity.count_above_10000": 4000,
        "popularity.count_above_1000000": 66,
        "popularity.kink_100000": 110_000,
        "size.kink_20": 4,
        "size.kink_2000": 2,
        "size.count_above_10000": 550,
        "rate.share_below_10": 0.5,
        "rate.share_above_1000": 0.00575,
        "rate.count_above_100000": 1,
        "popularity_rate.slope": 1,
        "popularity_rate.beyond": 0.3,
        "nnr.count_above_7000": 3e6,
        "nnr.max_percent": 4,
        "size_nnr.slope": 1,
    },
}


def summary(profile: Profile | None, measures: dict[str, float], **more: Any) -> WorkloadSummary:
    limits = more.pop("limits", {})
    manifest = Manifest(name="a trace", origin="generated", source="a test", profile=profile, pseudonymisation="none", limits=limits)
    rest: dict[str, Any] = {"fits": {}, "rows": {}, "skipped": {}, "binning": {}, "settings": {}, "timings_s": {}}
    return WorkloadSummary(manifest=manifest, filter=Filter(kinds=(), dropped={}, rows=0), measures=measures, **(rest | more))


def one(profile: Profile | None, published: str, changed: Mapping[str, float | None], **more: Any) -> JudgedFinding:
    """Returns the finding that begins with `published`, of a trace that is as published but for the measures `changed`.

    `profile`: of the trace. `more`: other fields of its summary.
    """
    measures = {**AS_PUBLISHED[profile or "spotify"], **changed}
    known = {name: value for name, value in measures.items() if value is not None}
    (found,) = (each for each in findings(summary(profile, known, **more)) if each.published.startswith(published))
    return found


@pytest.mark.parametrize("profile", ["spotify", "twitter"])
def test_a_trace_as_published_agrees_with_every_statement(profile: Profile) -> None:
    """WA-5 to WA-14, as judged."""
    found = findings(summary(profile, AS_PUBLISHED[profile]))
    assert len(found) == len(SPOTIFY if profile == "spotify" else TWITTER)
    assert [each for each in found if each.verdict != "agrees" and each.figure != "publications"] == []


@pytest.mark.parametrize("profile", ["spotify", "twitter"])
@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0, 2.0])
def test_thresholds_grow_with_the_trace(profile: Profile, scale: float) -> None:
    """A5.4: shares of all events shrink with the number of topics, counts grow with it; what is too small to tell says so."""
    measures = dict(AS_PUBLISHED[profile])
    for name in measures:
        if name in ("topics", "subscribers") or ("count_above" in name and not name.endswith("100000")):
            measures[name] *= scale
        elif name in ("rate.knee_percent", "nnr.min_percent"):
            measures[name] /= scale
        elif name.endswith("decades"):
            measures[name] = max(1.6, measures[name] + min(0.0, math.log10(scale)))
    assert {each.verdict for each in findings(summary(profile, measures))} <= {"agrees", "not comparable"}


@pytest.mark.parametrize(
    ("profile", "published", "measure", "outside"),
    [
        ("spotify", "straight", "popularity.r2", 0.96),
        ("spotify", "a sharp break", "rate.knee_percent", 0.0011),
        ("spotify", "more than 90 %", "nnr.share_low", 0.88),
        ("spotify", "the greatest NNR", "nnr.max_percent", 1.1),
        ("spotify", "NNR grows", "size_nnr.slope", 1.11),
        ("spotify", "no correlation", "popularity_rate.spearman", -0.06),
        ("spotify", "presence: most", "publications.peak_hour.presence", 19.5),
        ("spotify", "presence: slightly", "publications.weekend.presence", 1.0),
        ("spotify", "remote", "local_remote.ratio", 0.21),
        ("spotify", "as many", "churn.imbalance", 0.021),
        ("spotify", "almost flat", "live.variation", 0.06),
        ("twitter", "a kink at 20:", "size.kink_20", 1.0),
        ("twitter", "4 of 8 million", "rate.share_below_10", 0.535),
        ("twitter", "46,000", "rate.share_above_1000", 0.0046),
        ("twitter", "about 550", "size.count_above_10000", 380),
        ("twitter", "about 4,000", "popularity.count_above_10000", 5300),
        ("twitter", "66 of 8", "popularity.count_above_1000000", 40),
        ("twitter", "the mean number", "popularity_rate.slope", 0.84),
    ],
)
def test_a_measure_outside_its_tolerance_differs(profile: Profile, published: str, measure: str, outside: float) -> None:
    """WA-5 to WA-14: the tolerances are those of the requirements."""
    agreeing = [each for each in findings(summary(profile, AS_PUBLISHED[profile])) if each.published.startswith(published)]
    differing = [
        each for each in findings(summary(profile, AS_PUBLISHED[profile] | {measure: outside})) if each.published.startswith(published)
    ]
    assert [each.verdict for each in agreeing] == ["agrees"] * len(agreeing)
    assert [each.verdict for each in differing].count("differs") == 1


def test_hours_are_compared_round_the_clock() -> None:
    """WA-12: an hour before 02:00 is 01:00, and half past eleven is far from it."""
    assert one("spotify", "presence: most", {"publications.trough_hour.presence": 1.0}).verdict == "agrees"
    assert one("spotify", "presence: most", {"publications.trough_hour.presence": 23.5}).verdict == "differs"


def test_a_finding_tells_what_is_here_and_what_would_be_accepted() -> None:
    found = one("spotify", "NNR grows", {"size_nnr.slope": 1.3})
    assert found == JudgedFinding(
        "size_nnr",
        "NNR grows linearly with the number of topics",
        "thesis 5.1.1",
        "slope 1.30",
        "differs",
        "accepted: slope 0.90 to 1.10",
    )


def test_what_a_trace_lacks_cannot_be_compared_and_the_reason_is_given() -> None:
    lacks = {"churn.imbalance": None}
    assert one("spotify", "as many", lacks).because == "this trace has no measure churn.imbalance"
    assert one("spotify", "as many", lacks, limits={"churn": "the source has no times"}).because == "the source has no times"
    found = one("spotify", "as many", lacks, skipped={"churn.imbalance": "there were no requests", "churn": "no"})
    assert found[3:] == ("not measured", "not comparable", "there were no requests")


def test_a_number_that_is_none_is_missing() -> None:
    assert one("spotify", "NNR grows", {"size_nnr.slope": math.nan}).verdict == "not comparable"


def test_a_small_trace_says_that_it_is_too_small_to_tell() -> None:
    found = one("twitter", "66 of 8", {"topics": 80_000, "popularity.count_above_1000000": 0})
    assert found.verdict == "not comparable"
    assert "too small" in found.because


def test_another_service_is_compared_with_the_shapes_only() -> None:
    verdicts = {each.published: each for each in findings(summary(None, AS_PUBLISHED["spotify"]))}
    assert verdicts["NNR grows linearly with the number of topics"].verdict == "agrees"
    assert verdicts["a topic has 10.9 subscribers on average"].verdict == "not comparable"
    assert verdicts["presence: most at 18:00, least at 02:00"].because.startswith("when people listen")
    assert one(None, "presence: most", {"publications.peak_hour.presence": None}, limits={"daily": "no times"}).because == "no times"
    assert sum(each.verdict == "agrees" for each in verdicts.values()) >= 6


def test_an_empty_summary_is_judged_without_an_error() -> None:
    for profile in ("spotify", "twitter", None):
        assert {each.verdict for each in findings(summary(profile, {}))} == {"not comparable"}


def test_statements_name_figures_and_measures_that_there_are() -> None:
    known = {name.replace("{service}", service) for name in MEASURES for service in SERVICES}
    known |= {f"{name}{end}" for name in known for end in (".low", ".high")}
    for statement in STATEMENTS:
        assert statement.figure in FIGURES
        assert {need for each in statement.checks for need in each.needs} <= known
    assert len({(each.profile, each.id) for each in STATEMENTS}) == len(STATEMENTS)


def test_every_figure_of_the_thesis_has_a_statement() -> None:
    """WA-2: the figures of both profiles."""
    for profile in SIZES:
        numbered = {key for key, figure in FIGURES.items() if getattr(figure, profile)}
        assert numbered <= {each.figure for each in STATEMENTS if each.profile == profile}


def test_sizes_are_told_as_shares_of_the_published_ones() -> None:
    facts = TraceFacts(summary("twitter", {"topics": 80_000, "subscribers": 3e6}), "twitter")
    assert facts.grown("topics") == 0.01
    assert facts.grown("subscribers") == 0.1


FIT = TailFit(
    n=20_000,
    n_tail=240,
    xmin=15.0,
    decades=2.5,
    alpha=2.2,
    sigma=0.08,
    ks=0.1,
    p_value=0.01,
    bootstraps=50,
    against={},
    verdict="a power law is rejected: a lognormal fits better",
)


def test_a_sentence_tells_measures_and_fit() -> None:
    assert sentence("popularity", summary("spotify", AS_PUBLISHED["spotify"], fits={"popularity": FIT})) == (
        "A topic has 10.9 subscribers on average and 245,000 at most. "
        "A straight line explains 99.0 % of the curve over 4.1 decades (slope -0.93). "
        "For the 1.2 % of the values from 15 on, with an exponent of 2.20, a power law is rejected (p 0.01): a lognormal fits better."
    )


def test_a_fit_without_decision_says_so_and_no_sample_in_fifty_is_told_as_such() -> None:
    undecided = msgspec.structs.replace(FIT, n_tail=20_000, p_value=0.0, verdict="undecided: a lognormal fits better")
    found = sentence("nnr", summary("spotify", {}, fits={"nnr": undecided}))
    assert found == "For all values, with an exponent of 2.20, a power law remains undecided (p below 0.02): a lognormal fits better."
    few = msgspec.structs.replace(FIT, n_tail=0, verdict="too few values")
    assert sentence("nnr", summary("spotify", {}, fits={"nnr": few})) == "For a fit there are too few values."


@pytest.mark.parametrize(("r", "low", "high"), [(0.4, -0.7, 0.9), (0.0, -0.5, 0.5), (-0.9, -1, 0.1)])
def test_a_correlation_of_too_few_is_not_told(r: float, low: float, high: float) -> None:
    found = {"size_nnr.spearman": r, "size_nnr.spearman.low": low, "size_nnr.spearman.high": high}
    assert sentence("size_nnr", summary("spotify", found)).startswith(
        "Whether size and NNR go together cannot be told from so few (Spearman"
    )


def test_a_tail_that_is_too_short_is_called_no_power_law() -> None:
    short = msgspec.structs.replace(FIT, decades=0.2, verdict="0.2 decades are too short to tell")
    found = sentence("size", summary("spotify", {}, fits={"size": short}))
    assert found == "For the 1.2 % of the values from 15 on, 0.2 decades are too short to tell whether they follow a power law."


@pytest.mark.parametrize(("profile", "figure"), [("spotify", "popularity"), ("spotify", "size"), ("twitter", "popularity")])
def test_the_form_of_a_curve_is_not_judged_under_one_and_a_half_decades(profile: Profile, figure: str) -> None:
    made = summary(profile, AS_PUBLISHED[profile] | {f"{figure}.decades": 1.4})
    found = next(each for each in findings(made) if each.figure == figure and "power law" in each.published)
    assert found.verdict == "not comparable"
    assert found.because == "the curve spans 1.4 decades, and fewer than 1.5 are too short to tell its form"


@pytest.mark.parametrize(
    ("r", "words"),
    [
        (0.01, "have nothing to do with each other"),
        (0.2, "go together weakly"),
        (-0.5, "go together, one falling"),
        (0.9, "closely"),
        (1.0000000001, "closely"),
    ],
)
def test_a_correlation_is_told_by_its_strength_and_sign(r: float, words: str) -> None:
    assert words in sentence("popularity_rate", summary("spotify", {"popularity_rate.spearman": r}))


def test_shares_are_told_greatest_first() -> None:
    found = sentence("publications", summary("spotify", {"publications.share.social": 0.25, "publications.share.presence": 0.75}))
    assert found == "Presence has 75.0 %, social has 25.0 % of the publications."


def test_what_could_not_be_computed_is_told_with_the_reason() -> None:
    assert sentence("churn", summary(None, {}, skipped={"churn": "there is no log."})) == (
        "Subscribing and unsubscribing: not computed, because there is no log."
    )


@pytest.mark.parametrize("profile", ["spotify", "twitter"])
@pytest.mark.parametrize("key", FIGURES)
def test_every_figure_has_a_sentence_whatever_is_known(profile: Profile, key: str) -> None:
    everything = {name.replace("{service}", service): 0.5 for name in MEASURES for service in SERVICES}
    everything |= {f"{name}{end}": 0.5 for name in everything for end in (".low", ".high")}
    for measures in ({}, AS_PUBLISHED[profile], everything):
        found = sentence(key, summary(profile, measures))
        assert found[0] in string.ascii_uppercase
        assert found.endswith(".")
        assert not set("{}") & set(found)
    assert "no number" not in sentence(key, summary(profile, everything))


@pytest.mark.parametrize(("value", "words"), [(100.0, "100"), (0.5, "0.5"), (1e-7, "1.00·10⁻⁷"), (0.0, "0")])
def test_no_number_is_told_with_an_e(value: float, words: str) -> None:
    assert told(value, ".2g") == words

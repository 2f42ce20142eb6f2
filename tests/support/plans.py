"""Small results of both planning studies, as the pages and tables get them."""

from itertools import product
from typing import Final

from analytics.planning.provisioning import study as provisioning
from analytics.planning.provisioning.steps import STEPS
from analytics.planning.satisfaction import study as satisfaction
from analytics.planning.satisfaction.case import ALGORITHMS, METRICS, GreedyLine, More, SatisfactionRun
from analytics.planning.satisfaction.window_study import OnlineRun, WindowRun

THRESHOLDS: Final = (27, 276, 2763)
_SIZES: Final = {"name": "<b>spotify</b>", "source": "a test", "service": "presence", "topics": 11, "subscribers": 1000, "pairs": 2000}


def satisfied(
    *, profile: str | None = "spotify", windows: int = 2, thresholds: tuple[int, ...] = THRESHOLDS
) -> satisfaction.SatisfactionStudy:
    """Returns a study with every metric, threshold and algorithm: 700 of 1000 subscribers are satisfied, and at most 800 could be.

    - `profile`: the profile's name, if there is one.
    - `windows`: the number of hours.
    - `thresholds`: events that satisfy a subscriber.
    """
    cases = list(product(METRICS, thresholds))
    return satisfaction.SatisfactionStudy(
        **_SIZES,  # type: ignore[arg-type]
        profile=profile,
        events=30_393,
        mean_events=2763.0,
        full_capacity=100_000,
        capacity=10_000,
        runs=[
            SatisfactionRun(
                metric=metric,
                threshold=threshold,
                algorithm=algorithm,
                topics=5,
                cost=9_000,
                value=700.0,
                share=0.7,
                bound=800.0,
                ratio=0.875,
                best_bound=750.0,
                best_ratio=700 / 750,
                seconds=0.5,
            )
            for (metric, threshold), algorithm in product(cases, ALGORITHMS)
        ],
        lines=[
            GreedyLine(metric=metric, threshold=threshold, capacity_share=[0.01, 0.1], value_share=[0.2, 0.7], bound_share=[0.3, 0.8])
            for metric, threshold in cases
        ],
        more=[More(metric=metric, threshold=threshold, value=700.0, more=14.0) for metric, threshold in cases],
        windows=[
            WindowRun(
                start_ms=hour * 3_600_000,
                topics=8,
                pairs=100,
                metric=metric,
                capacity_share=share,
                threshold=20,
                value=60.0,
                ratio=0.75 + hour / 100,
                seconds=0.01,
            )
            for hour, metric, share in product(range(windows), METRICS, (0.1, 0.5))
        ],
        online=[
            OnlineRun(
                start_ms=hour,
                metric=metric,
                value=95.0 + hour,
                fresh=100.0,
                moves=300 // 100**hour,
                fresh_moves=500 // 100**hour,
                anew=hour == 0,
                seconds=1 / 10 ** (hour + 1),
                fresh_seconds=0.1,
            )
            for hour, metric in product(range(windows), METRICS)
        ],
        notes=["publications are a sample"],
    )


def provisioned(*, profile: str | None = "spotify", baseline: bool = True, machines: int = 100) -> provisioning.ProvisionStudy:
    """Returns a study with two machine types, two capacities and two thresholds. Each step saves 10 % of the first one's cost.

    - `profile`: the profile's name, if there is one.
    - `baseline`: the first two steps are in it.
    - `machines`: of each plan.
    """
    steps = STEPS if baseline else STEPS[2:]
    settings = list(product((3600.0, 864_000.0), ("c3.large", "c3.xlarge")))
    return provisioning.ProvisionStudy(
        **_SIZES,  # type: ignore[arg-type]
        profile=profile,
        events=30_393,
        hours=240.0,
        message_bytes=200,
        book="ec2-2013",
        book_source="a test",
        plans=[
            provisioning.ProvisionPlan(
                threshold=threshold,
                machine=machine,
                capacity_s=capacity_s,
                step=step,
                machines=machines,
                incoming_bytes=10**9,
                outgoing_bytes=3 * 10**9,
                usd=1000.0 - 100 * STEPS.index(step),
                bound_usd=300.0,
                ratio=(1000.0 - 100 * STEPS.index(step)) / 300,
                best_bound_usd=320.0,
                best_ratio=(1000.0 - 100 * STEPS.index(step)) / 320,
                selecting_s=0.5,
                placing_s=0.2,
            )
            for threshold, (capacity_s, machine), step in product((10, 100), settings, steps)
        ],
        offers=[
            provisioning.Offer(threshold=10, machine="c3.large", capacity_s=3600.0, reason="too small"),
            provisioning.Offer(threshold=10, machine="c3.xlarge", capacity_s=3600.0, machines=1, usd=500.0),
            provisioning.Offer(threshold=10, machine="c3.2xlarge", capacity_s=3600.0, machines=2, usd=400.0),
        ],
        moves=[],
        notes=[],
    )

"""Options of the decision service that cannot be meant are refused with a word on what to change."""

import math
from typing import Any

import pytest

from analytics.offloading.plan import MOST_THRESHOLD, PlanOptions
from infra.kernel.errors import ConfigError
from infra.kernel.frames import MOST_NUMBER
from services.decision.options import DecisionOptions

SITES = {"sto": {"b1": "sto/b1"}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"capacity": -1}, "capacity must be from 0"),
        ({"threshold": 0}, "threshold must be from 1"),
        ({"survey_s": 0.0}, "survey_s must be over 0"),
        ({"period_s": 10.0, "survey_s": 10.0}, "under period_s"),
        ({"weight": 0.0}, "weight must be over 0"),
        ({"weight": 1.5}, "weight must be over 0"),
        ({"overlap_ms": -1}, "overlap_ms must be from 0"),
        ({"period_s": 1.0, "survey_s": 0.5, "overlap_ms": 1001}, "to a whole period"),
        ({"every_ms": -1}, "every_ms must be from 0"),
        ({"capacity": MOST_NUMBER + 1}, "capacity must be from 0"),
        ({"threshold": MOST_THRESHOLD + 1}, "threshold must be from 1"),
        ({"every_ms": MOST_NUMBER + 1}, "every_ms must be from 0"),
        ({"period_s": 1e300, "overlap_ms": MOST_NUMBER + 1}, "overlap_ms must be from 0"),
        ({"period_s": math.inf}, "period_s must be finite"),
        ({"period_s": math.nan}, "period_s must be finite"),
        ({"survey_s": math.nan}, "survey_s must be over 0"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        PlanOptions(**changes).check()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sites": {}}, r"sites is empty; name each broker"),
        ({"sites": {"sto": {}}}, r"sites is empty"),
        ({"max_pairs": 0}, "max_pairs and max_topics must be from 1"),
        ({"max_topics": 1 << 31}, "max_pairs and max_topics must be from 1"),
        ({"keep_s": -1.0}, "decision.keep_s is .*; write a finite number that is 0 or more"),
        ({"keep_s": math.nan}, "decision.keep_s is .*; write a finite number that is 0 or more"),
        ({"keep_s": math.inf}, "decision.keep_s is .*; write a finite number that is 0 or more"),
    ],
)
def test_options_that_contradict_each_other_are_refused(changes: dict[str, Any], said: str) -> None:
    options: dict[str, Any] = {"site": "sto", "node": "decision1", "sites": SITES} | changes
    with pytest.raises(ConfigError, match=said):
        DecisionOptions(**options).check()


def test_the_defaults_are_fine_and_a_capacity_of_nothing_is_one() -> None:
    DecisionOptions(site="sto", node="decision1", sites=SITES, plan=PlanOptions(capacity=0)).check()
    PlanOptions().check()

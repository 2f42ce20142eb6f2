"""What is asked of a workload."""

from pathlib import Path

from analytics.planning.provisioning.prices import books
from analytics.planning.provisioning.steps import STEPS
from analytics.planning.provisioning.study import ProvisionQuestions, study
from analytics.planning.workload import load
from tests.support.traces import ring


def test_what_is_asked_twice_is_answered_once(tmp_path: Path) -> None:
    asked = ProvisionQuestions(books()["ec2-2013"], (2, 3, 2), ("c3.large", "c3.large"), (3600.0, 10.0, 3600.0), hours=240)
    found = study(load(ring(tmp_path / "t", 6)), asked, lambda _: None)

    cases = [(threshold, "c3.large", capacity_s) for threshold in (2, 3) for capacity_s in (3600.0, 10.0)]
    assert [(each.threshold, each.machine, each.capacity_s) for each in found.plans] == [case for case in cases for _ in STEPS]
    assert len(found.offers) == len(cases) * 2

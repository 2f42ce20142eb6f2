"""The benchmark of who may see what, with a real site and small numbers."""

from pathlib import Path
from typing import Final

import pytest

from bench.friendships import write_friendships
from bench.micro.subscribing import WARMING, SubscribingFigures, SubscribingPlan
from bench.plan import Target
from bench.runner import Runner
from bench.servers.segue import counters
from bench.setting import BenchSetting, two_cores
from bench.shape import WorkloadShape
from bench.suite.authorization import deliveries, guarded, subscribes
from bench.suite.stored import program

NOWHERE: Final = Target(speaks="segue", clients_at="", pids=[])


@pytest.fixture
def setting(tmp_path: Path) -> BenchSetting:
    server_core, generator_core = two_cores()
    return BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize(("policy", "asked"), [("social", WARMING + 10), ("open", 0)])
def test_new_topics_are_asked_for_once_under_the_policy_social_and_never_without(setting: BenchSetting, policy: str, asked: int) -> None:
    plan = SubscribingPlan(target=NOWHERE, users=2, topics=3, rate=100, number=10)
    write_friendships(setting.state, plan.friendships())
    with guarded(setting, policy, setting.state) as target:
        plan = SubscribingPlan(target=target, users=2, topics=3, rate=100, number=10)
        figures = program("subscribing", plan, setting.generator_core, SubscribingFigures)
        assert counters(target, "accesspoint")["accesspoint_verdicts_asked_total"] == asked * 3
    for each in (figures.new, figures.known):
        assert each.count == 10
        assert 0 < each.p50_ms <= each.p99_ms <= each.max_ms


@pytest.mark.e2e
@pytest.mark.slow
def test_both_policies_deliver_to_friends_and_their_tables_name_them(setting: BenchSetting) -> None:
    runner = Runner(setting, runs=1, seconds=0.2, peers=(), progress=lambda text: None)
    # So many deliveries for each publication that no limit of events a second is met.
    both, ratios = deliveries(runner, WorkloadShape(clients=150, topics=50, mean=40))
    assert [(row[0], row[-2]) for row in both.rows] == [("social", "0"), ("open", "0")]
    assert len(ratios.rows) == 2
    assert [row[1] for row in subscribes(runner).rows] == ["10", "10", "10"]

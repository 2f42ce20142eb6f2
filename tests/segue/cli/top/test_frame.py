"""segue.cli.top.frame: which figures two snapshots give."""

from typing import Any

from infra.runtime.stats import ProcessStats, RoleStats, Stats
from segue.cli.top.frame import Snapshot, Unreachable, frame


def process(id_: str, cpu_s: float = 0.0, rss_bytes: float | None = 1e6, loop_lag_s: float = 0.0) -> ProcessStats:
    return ProcessStats(id=id_, cpu_s=cpu_s, uptime_s=1.0, loop_lag_s=loop_lag_s, rss_bytes=rss_bytes, open_fds=9)


def role(name: str, node: str, site: str, not_ready: str | None = None, **counters: Any) -> RoleStats:
    return RoleStats(role=name, node=node, site=site, not_ready=not_ready, counters=counters)


def accesspoint(node: str, site: str, delivered: float, clients: int = 0) -> RoleStats:
    return role("accesspoint", node, site, accesspoint_deliveries_total=delivered, accesspoint_connections=clients)


def one(*roles: RoleStats, id_: str = "p", cpu_s: float = 0.0) -> Snapshot:
    return {"http://127.0.0.1:7790": Stats(process=process(id_, cpu_s), roles=list(roles))}


def test_rates_are_the_growth_of_counters_over_the_time_between() -> None:
    before = one(accesspoint("p1", "sto", 100), role("broker", "b1", "sto", broker_events_accepted_total=10, broker_site_copies_total=1))
    after = one(accesspoint("p1", "sto", 700), role("broker", "b1", "sto", broker_events_accepted_total=60, broker_site_copies_total=5))
    total = frame(before, after, 2.0).total
    assert (total.deliveries_per_s, total.events_per_s, total.site_copies_per_s) == (300.0, 25.0, 2.0)


def test_the_first_frame_has_levels_but_no_rates() -> None:
    total = frame({}, one(accesspoint("p1", "sto", 100, clients=7)), 1.0).total
    assert (total.connections, total.deliveries_per_s, total.cpu_percent) == (7, None, None)


def test_a_role_that_joined_between_two_frames_adds_no_rate() -> None:
    before, after = one(accesspoint("p1", "sto", 0)), one(accesspoint("p1", "sto", 10), accesspoint("p2", "sto", 9_000))
    assert frame(before, after, 1.0).total.deliveries_per_s == 10.0


def test_a_counter_that_fell_began_again_at_zero() -> None:
    assert frame(one(accesspoint("p1", "sto", 500)), one(accesspoint("p1", "sto", 30)), 1.0).total.deliveries_per_s == 30.0


def test_no_time_between_two_frames_gives_no_rate() -> None:
    same = one(accesspoint("p1", "sto", 5))
    assert frame(same, same, 0.0).total.deliveries_per_s is None


def test_levels_queues_and_drops_are_added_up_per_site_and_in_total() -> None:
    view = frame(
        {},
        one(
            role("accesspoint", "p1", "sto", accesspoint_topics=3, accesspoint_subscriptions=9, accesspoint_outbox_bytes=100),
            role("aggregator", "a1", "sto", aggregator_link_queue_bytes=20, aggregator_link_drops_total=1),
            role("broker", "b1", "lon", broker_link_queue_bytes=3, broker_link_drops_total=6),
        ),
        1.0,
    )
    lon, sto = view.rows
    assert (lon.site, lon.roles, lon.queue_bytes, lon.drops) == ("lon", 1, 3, 6)
    assert (sto.site, sto.roles, sto.topics, sto.subscriptions, sto.queue_bytes, sto.drops) == ("sto", 2, 3, 9, 120, 1)
    assert (view.total.roles, view.total.queue_bytes, view.total.drops) == (3, 123, 7)


def test_a_counter_with_a_label_counts_as_the_sum_of_its_values() -> None:
    view = frame({}, one(role("broker", "b1", "sto", accesspoint_shed_total={"presence": 2, "playlist": 3})), 1.0)
    assert view.total.drops == 5


def test_memory_and_cpu_of_a_process_belong_to_the_only_site_it_serves() -> None:
    def at(sto_cpu_s: float, lon_cpu_s: float) -> Snapshot:
        sto = Stats(process=process("1", sto_cpu_s, 10e6), roles=[accesspoint("p1", "sto", 0)])
        lon = Stats(process=process("2", lon_cpu_s, 5e6), roles=[accesspoint("p2", "lon", 0)])
        return {"a": sto, "b": lon}

    view = frame(at(1.0, 1.0), at(1.5, 3.0), 2.0)
    assert [(row.site, row.rss_bytes, row.cpu_percent) for row in view.rows] == [("lon", 5e6, 100.0), ("sto", 10e6, 25.0)]
    assert (view.total.rss_bytes, view.total.cpu_percent, view.processes) == (15e6, 125.0, 2)


def test_a_process_shared_by_sites_is_counted_once_and_only_in_the_total() -> None:
    view = frame(one(cpu_s=0.0), one(accesspoint("p1", "sto", 0), accesspoint("p2", "lon", 0), cpu_s=0.5), 1.0)
    assert [(row.rss_bytes, row.cpu_percent) for row in view.rows] == [(None, None), (None, None)]
    assert (view.total.rss_bytes, view.total.cpu_percent) == (1e6, 50.0)


def test_two_doors_of_one_process_do_not_count_anything_twice() -> None:
    said = Stats(process=process("1"), roles=[accesspoint("p1", "sto", 0, clients=4)])
    view = frame({}, {"a": said, "b": said}, 1.0)
    assert (view.processes, view.total.roles, view.total.connections, view.total.rss_bytes) == (1, 1, 4, 1e6)


def test_a_process_that_was_restarted_has_no_cpu_rate_yet() -> None:
    before, after = one(accesspoint("p1", "sto", 0), id_="old", cpu_s=90.0), one(accesspoint("p1", "sto", 0), id_="new", cpu_s=0.1)
    assert frame(before, after, 1.0).total.cpu_percent is None


def test_the_unreachable_and_the_not_ready_are_named_with_their_reasons() -> None:
    waiting = Stats(process=process("1", loop_lag_s=0.2), roles=[role("aggregator", "a1", "ash", "no broker is linked")])
    view = frame({}, {"a": waiting, "b": Unreachable("connection refused")}, 1.0)
    assert view.not_ready == (("ash aggregator a1", "no broker is linked"),)
    assert view.unreachable == (("b", "connection refused"),)
    assert view.loop_lag_s == 0.2


def test_what_a_hostile_door_says_is_written_out_and_cut() -> None:
    """DPS-26: no admin door of a stranger commands the terminal of whoever looks."""
    view = frame({}, one(role("\x1b]0;x\x07", "\x1b[2J", "s\u202eto", not_ready="\x9b31m" + "x" * 10_000)), 1.0)
    unreachable = frame({}, {"http://x": Unreachable("\x1b[31m")}, 1.0).unreachable
    shown = [view.rows[0].site, *view.not_ready[0], unreachable[0][1]]
    assert all(text.isprintable() and len(text) < 1000 for text in shown)

"""What a subscribing link is told, against a dumb twin that forgets nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.frames import Applied
from infra.kernel.receipts import MAX_PENDING, Receipts

SITES = ("sto", "lon", "ash")
CHANGE = st.tuples(st.just("change"), st.integers(1, 3), st.fixed_dictionaries(dict.fromkeys(SITES, st.integers(0, 2))))
REACHED = st.tuples(st.just("reached"), st.sampled_from(SITES), st.integers(-6, 6))
MEET = st.tuples(st.just("meet"), st.sampled_from(SITES), st.integers(0, 9))


def installed(changes: list[tuple[int, dict[str, int]]], site: str, reached: int) -> int:
    """Returns the last of `changes` at `site` before the first one that still waits when `reached` is: the twin."""
    done = [n for n, marks in changes if marks[site] <= reached]
    return max(done, default=0)


@given(st.lists(st.one_of(CHANGE, CHANGE, REACHED, MEET), max_size=40))
@settings(max_examples=150)
def test_a_change_is_told_when_its_mark_is_reached_and_taken_back_when_it_is_not_any_more(steps: list[tuple[str, object, object]]) -> None:
    """Marks rise with the changes; what is reached at a site may rise and fall. What is told is never above the twin's
    word, and the same once the newest mark is reached."""
    receipts, n = Receipts(), 0
    marks = dict.fromkeys(SITES, 0)
    changes: list[tuple[int, dict[str, int]]] = []
    reached = {"sto": 0}
    told = Applied(0, {})
    for step in steps:
        match step:
            case ("change", int(more), dict(rises)):
                n += more
                marks = {site: marks[site] + rises[site] for site in SITES}
                changes.append((n, marks))
                receipts.record(n, marks)
            case ("reached", str(site), int(by)) if site in reached:
                reached[site] = max(0, reached[site] + by)
            case ("meet", str(site), int(at)):
                reached.setdefault(site, at)
        news = receipts.advance(reached)
        assert news is None or news != told
        told = news or told
        assert told.n == n
        for site, at in reached.items():
            assert told.sites[site] <= installed(changes, site, at)
            if marks[site] <= at:
                assert told.sites[site] == n
        assert receipts.advance(reached) is None


@given(st.lists(st.integers(1, 3), min_size=1, max_size=30), st.lists(st.integers(0, 2), max_size=30))
def test_while_nothing_is_taken_back_each_change_is_told_exactly_when_it_is_reached(rises: list[int], progress: list[int]) -> None:
    receipts, mark = Receipts(), 0
    changes: list[tuple[int, dict[str, int]]] = []
    for n, rise in enumerate(rises, 1):
        mark += rise
        changes.append((n, {"lon": mark}))
        receipts.record(n, {"lon": mark})
    reached, told = 0, 0
    for by in progress:
        reached += by
        news = receipts.advance({"lon": reached})
        told = news.sites["lon"] if news else told
        assert told == installed(changes, "lon", reached)


def test_one_mark_for_all_sites_counts_for_those_that_are_met_later() -> None:
    """An aggregator does not know which sites there are until a broker says so; then the last change speaks for all."""
    receipts = Receipts()
    receipts.record(1, {}, default=3)
    receipts.record(2, {}, default=5)
    assert receipts.advance({}) == Applied(2, {})
    assert receipts.advance({"sto": 4}) == Applied(2, {"sto": 0})
    assert receipts.advance({"sto": 5, "lon": 4}) == Applied(2, {"sto": 2, "lon": 0})
    receipts.record(3, {}, default=6)
    assert receipts.advance({"sto": 5, "lon": 5}) == Applied(3, {"sto": 2, "lon": 2})
    assert receipts.advance({"sto": 6, "lon": 6}) == Applied(3, {"sto": 3, "lon": 3})


def test_a_site_that_stays_away_costs_little_memory_and_is_told_of_the_last_change_in_the_end() -> None:
    receipts = Receipts()
    for n in range(1, 5 * MAX_PENDING):
        receipts.record(n, {"sto": 0, "lon": n})
        assert receipts.advance({"sto": 0, "lon": 0}) == Applied(n, {"sto": n, "lon": 0})
        assert max(map(len, receipts._queues.values())) <= MAX_PENDING
    told = [0]
    for reached in (n, n // 2, 1, 0, n):
        news = receipts.advance({"sto": 0, "lon": reached})
        told.append(news.sites["lon"] if news else told[-1])
        assert told[-1] <= reached
    assert told[-1] == n
    assert len(receipts._queues["lon"]) == 1

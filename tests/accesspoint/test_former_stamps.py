"""What is remembered of how far everything has come, where the aggregator does not name it any more."""

from accesspoint.former_stamps import MOST, MOST_NAMED, FormerStamps


def test_what_is_named_no_more_stands_behind_what_is_the_newest_first_for_some_time() -> None:
    """DPS-11, DPS-18: it does not become untrue."""
    former = FormerStamps()
    known = former.behind({7: 3, 8: 1}, {}, 10.0)
    assert (known, len(former)) == ({7: 3, 8: 1}, 0)
    known = former.behind({8: 2, 9: 1}, known, 20.0)
    known = former.behind({9: 2}, known, 30.0)
    assert (list(known.items()), len(former)) == ([(9, 2), (8, 2), (7, 3)], 2)
    known = former.tick(known, 19.9)
    assert former.behind({9: 3}, known, 40.0) == {9: 3, 8: 2, 7: 3}
    known = former.tick(known, 20.0)
    assert (known, len(former)) == ({9: 2, 8: 2}, 1)
    known = former.behind({9: 3, 8: 5}, known, 50.0)
    assert (list(known.items()), len(former)) == ([(9, 3), (8, 5)], 0), "it is named again"


def test_so_many_are_remembered_however_many_an_aggregator_names() -> None:
    """DPS-9: a question never names more than a peer reads."""
    former, known = FormerStamps(), dict[int, int]()
    for n in range(200):
        known = {**former.behind({n: 1}, known, 10.0)}
    assert list(known) == list(range(199, 198 - MOST, -1))
    many = dict.fromkeys(range(1000, 1000 + MOST_NAMED - 3), 1)
    known = {**former.behind(many, known, 10.0)}
    assert (len(known), list(known)[-3:]) == (MOST_NAMED, [199, 198, 197])
    known = {**former.behind(dict.fromkeys(range(5000, 5000 + MOST_NAMED), 1), known, 10.0)}
    assert (len(known), len(former)) == (MOST_NAMED, 0)


def test_what_answers_have_brought_counts_for_what_is_remembered_alone() -> None:
    former = FormerStamps()
    known = former.behind({8: 2}, {7: 3, 8: 1}, 10.0)
    assert former.raised(known, {7: 2, 8: 9}) is known
    assert former.raised(known, {7: 5, 8: 9, 9: 1}) == {8: 2, 7: 5}
    assert (former.forget(known), len(former)) == ({8: 2}, 0)

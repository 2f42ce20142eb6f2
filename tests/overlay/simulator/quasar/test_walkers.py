"""Messages that are under way, and the ids that they are to avoid."""

from overlay.protocol.quasar import NOBODY
from overlay.simulator.agenda import new_agenda, take
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.latency.latency import constant, times_of
from overlay.simulator.quasar import walkers as w


def empty(ids: int = 4) -> w.Walkers:
    make = INTERPRETED
    return w.Walkers(
        agenda=new_agenda(10, make),
        times=times_of(constant(2)),
        total=make.filled(1),
        ids=make.filled(ids),
        before=make.filled(ids),
        lengths=make.filled(ids),
        links=make.filled(3),
        offered=make.filled(3),
        negative=make.filled(w.MOST_NEGATIVE),
        told=make.filled(3),
        tallies=make.filled(w.TALLIES),
        log=make.filled(1 + w.LOGGED),
    )


def test_a_message_comes_as_it_was_sent() -> None:
    walkers = empty()
    w.send(walkers, 1, 2, 7, w.MOST_TTL, 90_000, NOBODY, w.ON_TRAIL, 500)
    assert take(walkers.agenda)
    assert (w.node_of(walkers), w.link_of(walkers), w.ttl_of(walkers), w.hops_of(walkers)) == (2, 7, w.MOST_TTL, 90_000)
    assert (w.chain_of(walkers), w.trail_of(walkers), w.at_us_of(walkers)) == (NOBODY, w.ON_TRAIL, 2500)
    w.send(walkers, 1, 2, 7, 1, 1, NOBODY, w.AT_RANDOM, 0)
    w.forget_all(walkers)
    assert not take(walkers.agenda)


def test_ids_to_avoid_are_a_chain_the_last_one_first() -> None:
    """Without room for another id the chain stays as it is."""
    walkers = empty()
    chain = NOBODY
    for place in (11, 12, 13):
        chain = w.avoid(walkers, place, chain)
    other = w.avoid(walkers, 99, 0)
    assert (w.length(walkers, chain), w.write_negative(walkers, chain), walkers.negative[0], walkers.negative[2]) == (3, 3, 13, 11)
    assert (w.length(walkers, other), w.write_negative(walkers, other), walkers.negative[0], walkers.negative[1]) == (2, 2, 99, 11)
    assert w.avoid(walkers, 14, chain) == chain
    assert (w.length(walkers, NOBODY), w.write_negative(walkers, NOBODY)) == (0, 0)


def test_the_log_ends_where_there_is_no_more_room() -> None:
    walkers = empty()
    for node in (5, 6):
        w.note(walkers, node, 1, w.AT_RANDOM, 0, 0)
    assert (walkers.log[0], walkers.log[1]) == (1, 5)

"""accesspoint.slow_clients: who keeps too much waiting, or for too long, is sent away."""

from accesspoint.outbox import Outbox
from tests.support.bare_core import make_core, welcomed


def test_one_that_is_slow_for_too_long_or_by_too_much_is_sent_away() -> None:
    core = make_core(stalled_s=10.0, outbox_bytes=100)
    late, fat, fine = (welcomed(core, user) for user in ("late", "fat", "fine"))
    for session in (late, fat):
        session.chunks, session.outbox = None, Outbox(20.0, 100)
        core.slow.stopped(session)
    for session in (late, fat, fine):
        core.slow.check(session, 30.0)
        assert session.ending is None
    assert fat.outbox is not None
    fat.outbox.add(1, False, [b"x" * 101])
    for session in (late, fat, fine):
        core.slow.check(session, 30.1)
    assert (late.ending, fat.ending, fine.ending) == (("slow-consumer", None), ("slow-consumer", None), None)
    assert (core.slow.evictions, core.slow.paused) == (2, 0)

"""accesspoint.expiry: sessions end when their tokens do, unless they bring others, and nothing of those that leave stays behind."""

import random
from typing import Any

import pytest

from accesspoint.bearer import NO_BEARER
from accesspoint.core import AccessPointCore
from accesspoint.expiry import ENDED_AT_ONCE
from accesspoint.options import AccessPointOptions
from accesspoint.session import SessionState
from infra.kernel.errors import Refused
from infra.kernel.grants import Grants
from infra.runtime.tokens import Identity
from tests.support.recording_session import RecordingSession, never

LEEWAY_S = 30.0
# Nobody is silent here.
OPTIONS = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"], ping_s=1e9, silent_s=4e9)
PERIOD_S = 0.25


def bearer_of(token: str, wall_s: float) -> Identity:
    """Returns whom `token` names: `alice@60` is a token of alice that expires at 60."""
    if token == "bad":
        raise Refused("bad-token")
    if token == "later":
        raise Refused("unavailable")
    user, _, expires_s = token.partition("@")
    return Identity(user, float(expires_s), issued_s=5.0, id=f"id-{token}", grants=Grants.of(kinds=["artist"]) if user == "few" else None)


def make_core() -> AccessPointCore:
    return AccessPointCore(OPTIONS, bearer_of, random.Random(1), never, leeway_s=LEEWAY_S)


def welcomed(core: AccessPointCore, token: str, now_s: float = 0.0) -> RecordingSession:
    session = RecordingSession(core, now_s)
    assert (session.tell(now_s, op="hello", token=token) or {})["op"] == "welcome"
    return session


def refresh(session: RecordingSession, token: str, now_s: float = 0.0) -> dict[str, Any]:
    return session.tell(now_s, op="refresh", id="r", token=token) or {}


def test_a_session_ends_with_its_token_plus_the_skew_that_is_forgiven() -> None:
    """DPS-27."""
    core = make_core()
    session = welcomed(core, "alice@60")
    core.tick(60 + LEEWAY_S, PERIOD_S)
    assert session.ending is None
    core.tick(60 + LEEWAY_S + 1, PERIOD_S)
    assert session.ending == ("token-expired", None)
    assert (session.state, core.disconnects["token-expired"], len(core.sessions)) == (SessionState.ENDED, 1, 0)


def test_the_welcome_says_when_the_token_expires_and_the_session_knows_whose_it_is() -> None:
    core = make_core()
    session = RecordingSession(core)
    assert (session.bearer, session.expires_s) == (NO_BEARER, 0.0)
    answer = session.tell(0.0, op="hello", token="few@60.5") or {}
    assert answer["expires_ms"] == 60_500
    assert (session.expires_s, session.issued_s, session.token_id) == (60.5, 5.0, "id-few@60.5")
    assert session.grants == Grants.of(kinds=["artist"])


def test_a_token_that_hardly_ever_expires_is_told_in_a_number_that_every_client_can_hold() -> None:
    session = RecordingSession(make_core())
    assert (session.tell(0.0, op="hello", token=f"alice@{2.0**52}") or {})["expires_ms"] == (1 << 53) - 1


def test_a_refresh_with_a_token_of_the_same_user_keeps_the_session() -> None:
    """DPS-27."""
    core = make_core()
    session = welcomed(core, "alice@60")
    assert refresh(session, "alice@120", 50) == {"op": "refreshed", "id": "r", "expires_ms": 120_000}
    assert session.token_id == "id-alice@120"
    core.tick(60 + LEEWAY_S + 1, PERIOD_S)
    assert session.ending is None
    core.tick(120 + LEEWAY_S + 1, PERIOD_S)
    assert session.ending == ("token-expired", None)


def test_a_refresh_may_shorten_a_session_too() -> None:
    core = make_core()
    session = welcomed(core, "alice@600")
    assert refresh(session, "alice@60")["op"] == "refreshed"
    core.tick(60 + LEEWAY_S + 1, PERIOD_S)
    assert session.ending == ("token-expired", None)


@pytest.mark.parametrize(("token", "code"), [("bob@600", "wrong-user"), ("bad", "bad-token")])
def test_a_refresh_with_another_users_token_or_a_bad_one_ends_the_session(token: str, code: str) -> None:
    """DPS-27."""
    session = welcomed(make_core(), "alice@60")
    with pytest.raises(Refused) as refused:
        refresh(session, token)
    assert refused.value.code.name == code
    assert session.token_id == "id-alice@60"


def test_a_refresh_that_cannot_be_judged_now_changes_nothing_and_may_be_repeated() -> None:
    core = make_core()
    session = welcomed(core, "alice@60")
    assert (refresh(session, "later")["code"], session.expires_s) == ("unavailable", 60.0)
    core.tick(60 + LEEWAY_S + 1, PERIOD_S)
    assert session.ending == ("token-expired", None)


def test_a_refresh_before_hello_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        refresh(RecordingSession(make_core()), "alice@60")
    assert refused.value.code.name == "hello-first"


def test_a_clock_that_leaps_while_a_session_lasts_ends_nobody() -> None:
    """The wall clock says 1,000 at hello, and a year more at the next message; the session has its 60 seconds all the same."""
    core = make_core()
    session = RecordingSession(core)
    core.receive(session, b'{"op":"hello","token":"alice@1060"}', 7.0, 1000.0)
    core.receive(session, b'{"op":"ping"}', 8.0, 1000.0 + 31_536_000)
    core.tick(7.0 + 60 + LEEWAY_S, PERIOD_S)
    assert session.ending is None
    core.tick(7.0 + 60 + LEEWAY_S + 1, PERIOD_S)
    assert session.ending == ("token-expired", None)


def test_tokens_of_very_many_that_end_together_hold_up_nobody() -> None:
    core = make_core()
    sessions = [welcomed(core, f"u{n}@60") for n in range(ENDED_AT_ONCE + 5)]
    assert len(core.sessions) == len(sessions)
    core.tick(60 + LEEWAY_S + 1, PERIOD_S)
    assert len(core.sessions) == 5
    core.tick(60 + LEEWAY_S + 1, PERIOD_S)
    assert len(core.sessions) == 0


def test_a_session_that_cannot_be_ended_keeps_no_other_from_its_end() -> None:
    class Broken(RecordingSession):
        def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
            raise KeyError

    core = make_core()
    broken = Broken(core)
    broken.tell(0.0, op="hello", token="bob@60")
    session = welcomed(core, "alice@60")
    with pytest.raises(KeyError):
        core.tick(60 + LEEWAY_S + 1, PERIOD_S)
    assert session.ending == ("token-expired", None)


def test_nothing_is_kept_of_sessions_that_left_or_refreshed() -> None:
    """A million sessions that come and go within the life of a token must not pile up."""
    core = make_core()
    stays = welcomed(core, "alice@5")
    rng = random.Random(5)
    for number in range(5_000):
        session = welcomed(core, f"u{number}@{rng.randrange(10**6)}")
        refresh(session, f"u{number}@{rng.randrange(10**6)}")
        core.leave(session, "lost")
    assert core.expiry.waiting <= 100
    core.tick(5 + LEEWAY_S + 1, PERIOD_S)
    assert stays.ending == ("token-expired", None)

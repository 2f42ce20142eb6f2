"""The life of a session: what it may say when, and how much of it."""

import pytest

from accesspoint import messages
from accesspoint.session import EXPECTED, Session, SessionState
from infra.kernel.errors import Refused

SAID = [
    messages.HelloMessage("t"),
    messages.SubscribeMessage([]),
    messages.UnsubscribeMessage([]),
    messages.ActMessage("play"),
    messages.LastMessage([]),
    messages.PullMessage(),
    messages.SeenMessage(),
    messages.ReadMessage(),
    messages.HistoryMessage(""),
    messages.PingMessage(),
]


@pytest.mark.parametrize("state", SessionState)
@pytest.mark.parametrize("message", SAID, ids=lambda message: type(message).__name__)
def test_hello_comes_first_and_once_and_nothing_after_the_end(state: SessionState, message: messages.ClientMessage) -> None:
    session = Session(0.0)
    session.state = state
    is_hello = isinstance(message, messages.HelloMessage)
    if state is not SessionState.ENDED and is_hello is (state is SessionState.NEW):
        session.expect(message)
        return
    with pytest.raises(Refused) as refused:
        session.expect(message)
    codes = {SessionState.NEW: "hello-first", SessionState.READY: "hello-again", SessionState.ENDED: "going-away"}
    assert refused.value.code.name == codes[state]


def test_every_state_knows_what_to_expect() -> None:
    assert set(EXPECTED) == set(SessionState)


def test_messages_are_counted_anew_each_second() -> None:
    session = Session(7.9)
    assert [session.count(now_s, 2) for now_s in (8.0, 8.5, 8.999, 9.0, 9.1, 9.2)] == [True, True, False, True, True, False]


def test_a_session_costs_little() -> None:
    """It has no dict, and a subscription is a 32-bit number."""
    session = Session(0.0)
    assert not hasattr(session, "__dict__")
    assert session.handles.itemsize == 4

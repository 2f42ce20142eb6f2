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
    if state in (SessionState.NEW, SessionState.READY) and is_hello is (state is SessionState.NEW):
        session.expect(message)
        return
    with pytest.raises(Refused) as refused:
        session.expect(message)
    codes = {SessionState.READY: "hello-again", SessionState.ENDED: "going-away"}
    assert refused.value.code.name == codes.get(state, "hello-first")


def test_every_state_knows_what_to_expect() -> None:
    assert set(EXPECTED) == set(SessionState)


def test_a_session_costs_little() -> None:
    """It has no dict, and a subscription is a 32-bit number."""
    session = Session(0.0)
    assert not hasattr(session, "__dict__")
    assert session.handles.itemsize == 4

"""What the hook is asked, and what is not asked again."""

from typing import Any

import msgspec

from accesspoint.authorization.arbiter import Answers
from accesspoint.authorization.authorizer import ENDED_AT_ONCE
from accesspoint.authorization.hook_arbiter import HookArbiter
from accesspoint.authorization.hook_options import HookOptions
from accesspoint.session import SessionState
from infra.kernel.errors import Refused
from infra.kernel.frames import NOBODY, Barred
from infra.kernel.topics import parse_topic
from tests.support.guarded_core import GuardedCore
from tests.support.kept_questions import KeptQuestions
from tests.support.recording_session import RecordingSession
from tests.support.user import feed

BOB, CID, EVE = (parse_topic(feed(user)) for user in ("bob", "cid", "eve"))
ARTIST = "hm://notifications/feed/a1%new-album/"
OPTIONS = HookOptions(subscribe="https://there/subscribe", connect="https://there/connect", ttl_s=10.0)


def codes(found: Answers | Refused) -> list[str]:
    """Returns the code of each answer, "" for what is allowed."""
    assert not isinstance(found, Refused)
    return [each.code.name if each else "" for each in found]


def test_only_what_is_unknown_is_asked_and_the_answers_come_in_the_order_of_the_topics() -> None:
    outlet, got = KeptQuestions(), list[Answers | Refused]()
    hook = HookArbiter(OPTIONS, "sto", "ap1", outlet)
    hook.ask("ann", "phone", [BOB], 0.0, got.append)
    outlet.answer({"allowed": [feed("bob")]})
    hook.ask("ann", "desk", [EVE, BOB, CID], 1.0, got.append)
    outlet.answer({"allowed": [feed("cid")]})
    assert [codes(each) for each in got] == [[""], ["forbidden", "", ""]]
    assert [question["topics"] for _, question in outlet.asked] == [[feed("bob")], [feed("eve"), feed("cid")]]
    hook.ask("ann", "desk", [EVE, BOB, CID], 2.0, got.append)
    assert (codes(got[-1]), len(outlet.asked), hook.from_cache) == (["forbidden", "", ""], 2, 4)
    hook.ask("eve", "desk", [BOB], 2.0, got.append)
    assert len(outlet.asked) == 3


def test_what_failed_is_not_remembered_and_is_told_once_to_whom_it_concerns() -> None:
    outlet, got = KeptQuestions(), list[Answers | Refused]()
    hook = HookArbiter(OPTIONS, "sto", "ap1", outlet)
    hook.ask("ann", "", [BOB], 0.0, got.append)
    outlet.answer({"allowed": [feed("bob")]}, 500)
    hook.ask("ann", "", [BOB], 0.0, got.append)
    outlet.fail()
    assert [isinstance(each, Refused) and each.code.name for each in got] == ["unavailable", "unavailable"]
    assert (hook.asked, hook.failed, len(hook.cache)) == ({"subscribe": 2}, {"subscribe": 2}, 0)
    assert outlet.complaints == ["https://there/subscribe"] * 2


def test_an_answer_is_as_old_as_its_question() -> None:
    """However long it took: what was changed meanwhile is not in it."""
    outlet, got = KeptQuestions(), list[Answers | Refused]()
    hook = HookArbiter(OPTIONS, "sto", "ap1", outlet)
    hook.ask("ann", "", [BOB], 0.0, got.append)
    outlet.answer({"allowed": [feed("bob")]})
    hook.ask("ann", "", [BOB], 10.0, got.append)
    assert len(outlet.asked) == 2


def test_each_connection_is_asked_about() -> None:
    outlet, got = KeptQuestions(), list[str]()
    hook = HookArbiter(OPTIONS, "sto", "ap1", outlet)
    for answer in ({"allow": True}, {"allow": False, "reason": "closed"}):
        hook.connect("ann", "phone", "mobile", lambda refused, _: got.append(refused.reason if refused else ""))
        outlet.answer(answer)
    question = {"user": "ann", "client": "phone", "device": "mobile", "site": "sto", "node": "ap1"}
    assert (got, outlet.asked) == (["", "closed"], [("https://there/connect", question)] * 2)
    assert (hook.asked, hook.failed, hook.asks_connect) == ({"connect": 2}, {}, True)


def world(**settings: Any) -> tuple[GuardedCore, KeptQuestions]:
    """Returns an access point that asks a hook, and the questions. The social service is there, too."""
    outlet, options = KeptQuestions(), msgspec.structs.replace(OPTIONS, **settings)
    hook = HookArbiter(options, "sto", "ap1", outlet)
    return GuardedCore(policy="hook", hook=options, asks=hook, ping_s=1e9, silent_s=4e9), outlet  # nobody is silent here


def following(user: str, *topics: str, **settings: Any) -> tuple[GuardedCore, KeptQuestions, RecordingSession]:
    """Returns such an access point at which `user` has been allowed to follow `topics`."""
    core, outlet = world(**{"connect": "", "recheck_s": 100.0, "grace_s": 50.0, **settings})
    session = core.client(user)
    session.tell(op="subscribe", topics=list(topics))
    outlet.answer({"allowed": list(topics)})
    assert len(core.holds(session)) == len(topics)
    return core, outlet, session


def test_a_session_is_welcomed_when_it_is_let_in_and_its_time_is_the_one_of_then() -> None:
    core, outlet = world()
    ann = core.client("ann")
    assert (ann.messages, ann.state, len(core.core.arrivals.strangers), len(core.core.users)) == ([], SessionState.ASKING, 1, 0)
    outlet.answer({"allow": True})
    assert (ann.messages[0]["op"], ann.messages[0]["time_ms"], ann.state) == ("welcome", 1000, SessionState.READY)
    assert len(core.core.arrivals.strangers) == 0


def test_a_token_that_is_revoked_while_the_hook_is_asked_lets_nobody_in() -> None:
    """DPS-28."""
    core, outlet = world()
    ann = core.client("ann")
    core.revoked.add("ann")
    outlet.answer({"allow": True})
    assert (ann.ending, core.core.refusals["token-revoked"], ann.messages) == (("token-revoked", None), 1, [])


def test_the_hook_is_asked_about_who_waited_when_it_is_known_whose_tokens_are_revoked() -> None:
    """DPS-28: somebody who is revoked is not even asked about."""
    core, outlet = world()
    core.core.arrivals.hold()
    ann, bob = core.client("ann"), core.client("bob")
    assert outlet.asked == []
    core.revoked.add("ann")
    core.core.arrivals.release(1.0, 1.0)
    assert (ann.ending, core.core.refusals["token-revoked"]) == (("token-revoked", None), 1)
    outlet.answer({"allow": True})
    assert (bob.messages[0]["op"], len(outlet.asked)) == ("welcome", 1)


def test_an_answer_for_a_session_that_has_gone_is_about_nobody() -> None:
    core, outlet = world()
    ann = core.client("ann")
    core.core.leave(ann, "lost")
    outlet.answer({"allow": True})
    assert (ann.messages, len(core.core.users), core.core.sessions) == ([], 0, {})


def test_what_the_social_service_tells_asks_nobody_and_ends_nothing_under_the_hook() -> None:
    core, outlet = world(recheck_s=0.0)
    ann = core.client("ann")
    outlet.answer({"allow": True})
    ann.tell(op="subscribe", topics=[feed("bob")])
    outlet.answer({"allowed": [feed("bob")]})
    core.tell(Barred(["bob"], [NOBODY]))
    core.cut()
    core.link()
    core.tick(20.0)
    assert (core.holds(ann), len(outlet.asked)) == ([BOB], 2)


def test_what_is_held_is_asked_about_again_in_time_and_what_is_refused_then_ends_with_the_reason() -> None:
    """AUTH-10: also where the answer was about an artist; and what was remembered is no answer."""
    core, outlet, ann = following("ann", feed("bob"), feed("cid"), ARTIST, ttl_s=1000.0)
    core.tick(70.0)
    assert len(outlet.asked) == 1
    core.tick(30.0)
    assert [question["topics"] for _, question in outlet.asked[1:]] == [[feed("bob"), feed("cid"), ARTIST]]
    outlet.answer({"allowed": [feed("cid")], "refused": {feed("bob"): "bob has left"}})
    core.turn()
    assert core.holds(ann) == [CID]
    (ended,) = [message for message in ann.messages if message["op"] == "ended"]
    assert [(each["topic"], each["code"], each["reason"]) for each in ended["topics"]] == [
        (feed("bob"), "forbidden", "bob has left"),
        (ARTIST, "forbidden", f"you may not see {ARTIST}"),
    ]
    ann.tell(core.now_s, op="subscribe", topics=[feed("bob")])
    assert (len(outlet.asked), core.core.gatekeeper.ended) == (2, 2)  # that is remembered
    core.tick(74.0)
    assert len(outlet.asked) == 2
    core.tick(30.0)
    assert [question["topics"] for _, question in outlet.asked[2:]] == [[feed("cid")]]


def test_where_nobody_answers_what_is_held_goes_on_for_the_grace_and_then_ends() -> None:
    """AUTH-10: fails closed. The hook is asked again and again meanwhile, and one answer is enough."""
    core, outlet, ann = following("ann", feed("bob"))
    core.tick(100.0)
    for _ in range(20):
        outlet.fail()
        core.tick(2.0)
    assert (core.holds(ann), len(outlet.asked) > 20) == ([BOB], True)
    outlet.answer({"allowed": [feed("bob")]})
    core.tick(60.0)
    assert core.holds(ann) == [BOB]
    core.tick(45.0)
    while core.holds(ann):
        outlet.fail()
        core.tick(1.0)
    assert core.now_s <= 140 + 150 + 3
    (ended,) = [message for message in ann.messages if message["op"] == "ended"]
    assert [(each["topic"], each["code"]) for each in ended["topics"]] == [(feed("bob"), "unavailable")]
    ann.tell(core.now_s, op="subscribe", topics=[feed("bob")])
    outlet.answer({"allowed": [feed("bob")]})
    core.tick(10.0)
    assert core.holds(ann) == [BOB]


def test_about_whom_there_is_no_answer_holds_up_nobody_else() -> None:
    core, outlet, ann = following("ann", feed("bob"), max_open=2)
    eve = core.client("eve")
    eve.tell(op="subscribe", topics=[feed("bob")])
    outlet.answer({"allowed": [feed("bob")]})
    core.tick(100.0)
    answered = set()
    for _ in range(6):
        user = outlet.asked[-1][1]["user"]
        if user == "ann":
            outlet.fail()
        else:
            outlet.answer({"allowed": [feed("bob")]})
            answered.add(user)
        core.tick(1.0)
    assert answered == {"eve"}
    assert core.holds(ann) == core.holds(eve) == [BOB]


def test_nobody_is_asked_about_a_user_who_holds_nothing_any_more_and_nothing_stays_of_them() -> None:
    core, outlet, ann = following("ann", feed("bob"))
    ann.tell(op="unsubscribe", topics=[feed("bob")])
    core.tick(100.0)
    assert core.hook is not None
    assert (len(outlet.asked), len(core.hook.renewals)) == (1, 0)
    ann.tell(core.now_s, op="subscribe", topics=[feed("bob")])
    outlet.answer({"allowed": [feed("bob")]})
    core.tick(70.0)
    assert core.holds(ann) == [BOB]


def test_an_answer_that_was_remembered_is_as_old_for_a_session_as_it_was() -> None:
    core, outlet, ann = following("ann", feed("bob"), ttl_s=80.0)
    core.tick(60.0)
    again = core.client("ann")
    again.tell(core.now_s, op="subscribe", topics=[feed("bob")])
    core.core.leave(ann, "lost")
    core.tick(40.0)
    assert [question["topics"] for _, question in outlet.asked] == [[feed("bob")], [feed("bob")]]


def test_of_very_many_about_whom_nobody_answers_some_end_in_each_turn_of_the_loop() -> None:
    core, outlet = world(connect="", recheck_s=10.0, grace_s=0.0)
    clients = [core.client(f"u{n}") for n in range(50)]
    for client in clients:
        client.tell(op="subscribe", topics=[feed("bob")])
        outlet.answer({"allowed": [feed("bob")]})
    core.now_s += 10.0
    core.core.tick(core.now_s, 0.25)
    core.core.tick(core.now_s, 0.25)
    assert sum(not core.holds(client) for client in clients) == ENDED_AT_ONCE
    core.turn()
    assert sum(not core.holds(client) for client in clients) == 50

"""What the hook is asked, and what is not asked again."""

from accesspoint.authorization.arbiter import Answers
from accesspoint.authorization.hook_arbiter import HookArbiter
from accesspoint.authorization.hook_options import HookOptions
from accesspoint.session import SessionState
from infra.kernel.errors import Refused
from infra.kernel.frames import NOBODY, Barred
from infra.kernel.topics import parse_topic
from tests.support.guarded_core import GuardedCore
from tests.support.kept_questions import KeptQuestions
from tests.support.user import feed

BOB, CID, EVE = (parse_topic(feed(user)) for user in ("bob", "cid", "eve"))
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


def world() -> tuple[GuardedCore, KeptQuestions]:
    """Returns an access point that asks a hook, and the questions. The social service is there, too."""
    outlet = KeptQuestions()
    return GuardedCore(policy="hook", hook=OPTIONS, asks=HookArbiter(OPTIONS, "sto", "ap1", outlet)), outlet


def test_a_session_is_welcomed_when_it_is_let_in_and_its_time_is_the_one_of_then() -> None:
    core, outlet = world()
    ann = core.client("ann")
    assert (ann.messages, ann.state, core.core.strangers, len(core.core.users)) == ([], SessionState.ASKING, 1, 0)
    outlet.answer({"allow": True})
    assert (ann.messages[0]["op"], ann.messages[0]["time_ms"], ann.state) == ("welcome", 1000, SessionState.READY)
    assert core.core.strangers == 0


def test_a_token_that_is_revoked_while_the_hook_is_asked_lets_nobody_in() -> None:
    """DPS-28."""
    core, outlet = world()
    ann = core.client("ann")
    core.revoked.add("ann")
    outlet.answer({"allow": True})
    assert (ann.ending, core.core.refusals["token-revoked"], ann.messages) == (("token-revoked", None), 1, [])


def test_an_answer_for_a_session_that_has_gone_is_about_nobody() -> None:
    core, outlet = world()
    ann = core.client("ann")
    core.core.leave(ann, "lost")
    outlet.answer({"allow": True})
    assert (ann.messages, len(core.core.users), core.core.sessions) == ([], 0, {})


def test_what_the_social_service_tells_asks_nobody_and_ends_nothing_under_the_hook() -> None:
    core, outlet = world()
    ann = core.client("ann")
    outlet.answer({"allow": True})
    ann.tell(op="subscribe", topics=[feed("bob")])
    outlet.answer({"allowed": [feed("bob")]})
    core.tell(Barred(["bob"], [NOBODY]))
    core.cut()
    core.link()
    core.tick(20.0)
    assert (core.holds(ann), len(outlet.asked)) == ([BOB], 2)

"""rule_engine.load: what a rule file can say, and what is said about a wrong one."""

import re

import pytest

from infra.kernel.errors import ConfigError
from infra.kernel.topics import Kind
from rule_engine.facts import Facts
from rule_engine.load import default_text, load

THEN = 'then = ["in-client"]'


def rule(when: str = "when.desktop = true", effect: str = THEN, name: str = "r") -> str:
    return f'[[rule]]\nname = "{name}"\n{when}\n{effect}\n'


def matches(when: str, facts: Facts) -> bool:
    return load(rule(f"when = {when}"), "test").decide(facts).in_client


ALBUM = Facts(topic=Kind.ARTIST, cls="new-album", kind="album", desktop=True, mails_recent=3)


@pytest.mark.parametrize(
    "when",
    [
        "{ desktop = true }",
        "{ desktop.is = true }",
        "{ mobile = false }",
        '{ class = "new-album" }',
        '{ kind = "album" }',
        '{ topic.in = ["artist", "social"] }',
        "{ mails_recent.at_least = 3 }",
        "{ mails_recent = { at_least = 3, below = 4 } }",
        '{ mails_recent.at_least = "mails_per_window" }',
        "{ mails_recent.is = 3 }",
        "{ not = { mobile = true } }",
        "{ any = [{ mobile = true }, { all = [{ desktop = true }, { not = { friend = true } }] }] }",
        '{ desktop = true, topic = "artist" }',
    ],
)
def test_a_condition_that_holds(when: str) -> None:
    assert matches(when, ALBUM)
    assert not matches(f"{{ not = {when} }}", ALBUM)


@pytest.mark.parametrize(
    "when",
    [
        '{ topic = "social" }',
        '{ desktop = true, topic = "social" }',
        "{ mails_recent.below = 3 }",
        '{ class.in = ["new-track"] }',
        "{ any = [{ mobile = true }, { friend = true }] }",
        "{ all = [{ desktop = true }, { friend = true }] }",
    ],
)
def test_a_condition_that_does_not_hold(when: str) -> None:
    assert not matches(when, ALBUM)
    assert matches(f"{{ not = {when} }}", ALBUM)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[rule]", "my.toml: is not TOML: "),
        ("", "my.toml: has no rules; each begins with a line [[rule]]"),
        ("rule = 3", "my.toml: has no rules"),
        ("[[rules]]", "my.toml: unknown key rules; did you mean rule?"),
        ("settings = 1", "settings must be a table"),
        ("[settings]\nmails_per_windw = 1", "settings: unknown key mails_per_windw; did you mean mails_per_window?"),
        ("[settings]\nmails_per_window = 0", "settings: mails_per_window: Expected int >= 1"),
        ('[settings]\nmandatory = ["album"]', "settings: mandatory: no such class: album; did you mean new-album?"),
        ("[[rule]]\nwhen.desktop = true", "rule number 1: name must be 1 to 32 of a-z 0-9 -"),
        (rule(name="My rule"), "rule number 1: name must be 1 to 32 of a-z 0-9 -"),
        (rule(effect='them = ["push"]'), "rule r: unknown key them; did you mean then?"),
        (rule(effect=""), "rule r: does nothing; give it at least one of then, never, after_quiet, digest"),
        (rule(effect='then = "push"'), 'rule r: then must be a list of channels, as in ["webhook"]'),
        (rule(effect="then = []"), "rule r: then must be a list of channels"),
        (rule(effect='then = ["mail"]'), "rule r: then: no such channel: mail; did you mean email?"),
        (rule(effect='digest = ["push"]'), "rule r: digest: push cannot be put off so; only email can"),
        (rule(effect='after_quiet = ["engine"]'), "rule r: after_quiet: engine cannot be put off so; only push, email can"),
        (rule() + rule(), "rule r: there are two rules with this name"),
        (rule(name="online"), "rule online: there are two rules with this name (the laws have theirs too)"),
        (rule(""), "rule r: when must be a table with at least one fact"),
        (rule("when = {}"), "rule r: when must be a table with at least one fact"),
        (rule("when.all = []"), "rule r: when.all must be a list of at least one table"),
        (rule("when.any = [{}]"), "rule r: when.any[0] must be a table with at least one fact"),
        (rule("when.any = { desktop = true }"), "rule r: when.any must be a list of at least one table"),
        (rule("when.not = true"), "rule r: when.not must be a table with at least one fact"),
        (rule("when.desktp = true"), "rule r: when.desktp: no such fact; did you mean desktop?"),
        (rule("when.not.any = [{ xyzzy = 1 }]"), "rule r: when.not.any[0].xyzzy: no such fact; known here: topic, class, "),
        (rule("when.desktop = 1"), "rule r: when.desktop = 1: must be true or false"),
        (rule('when.topic = "artists"'), 'rule r: when.topic = "artists": it is never so; did you mean artist?'),
        (rule("when.topic.in = []"), "rule r: when.topic.in must be a list of at least one text"),
        (rule('when.class.in = ["new-albun"]'), 'rule r: when.class.in = "new-albun": it is never so; did you mean new-album?'),
        (rule("when.kind = 3"), "rule r: when.kind = 3: must be a text"),
        (rule("when.mails_recent.at_least = true"), "rule r: when.mails_recent = True: must be a whole number"),
        (rule("when.mails_recent.at_leest = 1"), "when.mails_recent.at_leest: mails_recent cannot be compared so; did you mean at_least?"),
        (rule('when.mails_recent.at_least = "mails_window"'), 'when.mails_recent = "mails_window": no such setting; did you mean mails_p'),
        (rule("when.desktop = {}"), "rule r: when.desktop compares with nothing; known here: is"),
        (rule("when.desktop.at_least = 1"), "rule r: when.desktop.at_least: desktop cannot be compared so; known here: is"),
        (rule("when.all = [{ desktop = true }, { desktop = false }]"), "like this: desktop is true and desktop is false"),
        (rule('when = { topic = "artist", class = "friend-joined" }'), "rule r: when: no event and follower are ever like this"),
        (rule("when.mails_recent = { at_least = 5, below = 5 }"), "rule r: when: no event and follower are ever like this"),
        (rule("when.mails_recent.below = 0"), "rule r: when: no event and follower are ever like this"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_rule_and_the_key(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        load(text, "my.toml")


def test_the_default_rules_are_a_rule_file_like_any_other_and_the_laws_are_added_to_it() -> None:
    rules = load(default_text(), "default")
    assert default_text().count("[[rule]]") < len(rules.rules)
    assert {"online", "opted-out-of-mail", "no-phone", "presence", "sent-already"} <= {rule.name for rule in rules.rules}


def test_settings_are_for_the_worker_too() -> None:
    settings = load("[settings]\nmails_per_window = 7\nmandatory = ['friend-joined']\n" + rule(), "test").settings
    assert (settings.mails_per_window, settings.pushes_per_window, settings.mandatory) == (7, 10, ("friend-joined",))

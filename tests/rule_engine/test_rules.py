"""rule_engine.rules: what holds of every verdict, under the default rules and under any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from infra.kernel.topics import Kind
from rule_engine.facts import Facts
from rule_engine.load import default_text, load
from rule_engine.rules import RuleSet
from rule_engine.verdict import Way
from tests.rule_engine.drawn import facts, random_facts
from tests.rule_engine.told import told

DEFAULT = load(default_text(), "default")
# A rule file that grants everything to everybody.
EVERYTHING = 'then = ["engine", "in-client", "push", "email", "webhook"]'
GREEDY = load(
    f"""
    [[rule]]
    name = "elsewhere"
    when.desktop = false
    {EVERYTHING}
    [[rule]]
    name = "at-the-desktop"
    when.desktop = true
    {EVERYTHING}
    """,
    "greedy",
)
CASES = 100_000


@pytest.mark.parametrize("rules", [DEFAULT, GREEDY], ids=["default", "greedy"])
def test_mail_goes_only_to_who_is_offline_and_has_not_opted_out(rules: RuleSet) -> None:
    """SB-41: 10^5 random cases; no rule file can change it."""
    mailed = [case for case in random_facts(41, CASES) if rules.decide(case).email is not Way.NO]
    assert len(mailed) > CASES / 100
    assert [case for case in mailed if case.desktop or case.mobile or case.email_off or not case.email_known] == []


@given(facts())
def test_push_goes_only_to_phones_and_presence_nowhere_but_live_and_nothing_live_twice(case: Facts) -> None:
    """SB-42, SB-30, spec 6"""
    for rules in (DEFAULT, GREEDY):
        channels = told(rules.decide(case))
        assert "push" not in channels or ((case.mobile or case.mobile_known) and not case.push_off)
        assert case.topic is not Kind.USER or channels <= {"engine"}
        assert not (case.sent and "engine" in channels)


@given(facts(), st.sampled_from(["in_client_off", "push_off", "email_off", "webhook_off", "muted", "sent"]))
def test_asking_for_less_never_brings_more(case: Facts, flag: str) -> None:
    less, more = (told(DEFAULT.decide(replace(case, **{flag: value}))) for value in (True, False))
    assert less <= more


@given(facts(), st.sampled_from(["quiet", "digest"]))
def test_asking_for_later_changes_when_and_never_what(case: Facts, flag: str) -> None:
    later, now = (told(DEFAULT.decide(replace(case, **{flag: value}))) for value in (True, False))
    assert later == now


@given(facts())
def test_the_explanation_agrees_with_the_decision(case: Facts) -> None:
    explanation = DEFAULT.explain(case)
    assert explanation.verdict == DEFAULT.decide(case)
    matched = {finding.name for finding in explanation.findings if finding.matched}
    assert matched == {rule.name for rule in DEFAULT.rules if rule.when.holds(case)}
    granted = [rule.name for rule in DEFAULT.rules if rule.then and rule.name in matched]
    assert [reason for reason in explanation.verdict.reasons if reason[0] not in "-~"] == granted
    assert {reason.partition(":")[2] for reason in explanation.verdict.reasons if reason[0] in "-~"} <= matched


@given(facts())
def test_remembered_verdicts_are_those_that_would_be_found_anew(case: Facts) -> None:
    assert RuleSet(DEFAULT.rules, DEFAULT.settings, remembered=0).decide(case) == DEFAULT.decide(case)


def test_a_digest_wins_over_quiet_hours() -> None:
    rules = load(
        """
        [[rule]]
        name = "mail"
        when.topic = "artist"
        then = ["email"]
        after_quiet = ["email"]
        [[rule]]
        name = "collect"
        when.digest = true
        digest = ["email"]
        """,
        "test",
    )
    offline = Facts(topic=Kind.ARTIST, cls="new-album", email_known=True)
    assert rules.decide(offline).email is Way.AFTER_QUIET
    verdict = rules.decide(replace(offline, digest=True))
    assert verdict.email is Way.DIGEST
    assert verdict.reasons == ("mail", "~email:mail", "~email:collect")

"""rule_engine/default.toml: the decision table of the spec (section 8), and what users may ask for beside it."""

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from infra.kernel.topics import Kind
from rule_engine.facts import CLASSES_OF, Facts
from rule_engine.load import default_text, load
from rule_engine.verdict import Way
from tests.rule_engine.told import told

RULES = load(default_text(), "default")

# What the cells say, as sets of channels; "phone": a push only if a subscription is known.
ENGINE, ROW, PUSH, EMAIL, PHONE = "engine", "in-client", "push", "email", "phone"
COLUMNS = ("online desktop", "online mobile", "offline, email allowed", "offline, opted out")
TABLE = {
    "user": ({ENGINE}, set(), set(), set()),
    "playlist, friend of owner": ({ENGINE, ROW}, {ENGINE, PUSH}, {EMAIL, ROW}, {ROW}),
    "playlist, other follower": ({ENGINE, ROW}, {ENGINE, PUSH, ROW}, {EMAIL, ROW}, {ROW}),
    "artist": ({ENGINE, ROW}, {ENGINE, PUSH, ROW}, {EMAIL, PHONE, ROW}, {PHONE, ROW}),
    "social": ({ENGINE, ROW}, {ENGINE, PUSH, ROW}, {EMAIL, PHONE, ROW}, {PHONE, ROW}),
}


@dataclass(frozen=True)
class Cell:
    """One cell, for one class of its row, with or without a phone known."""

    row: str
    column: str
    cls: str
    phone: bool

    @property
    def facts(self) -> Facts:
        return Facts(
            topic=Kind(self.row.partition(",")[0]),
            cls=self.cls,
            friend=self.row == "playlist, friend of owner",
            desktop=self.column == "online desktop",
            mobile=self.column == "online mobile",
            mobile_known=self.phone,
            email_known=True,
            email_off=self.column == "offline, opted out",
        )

    @property
    def channels(self) -> set[str]:
        cell = TABLE[self.row][COLUMNS.index(self.column)]
        return (cell - {PHONE}) | ({PUSH} if PHONE in cell and self.phone else set())


CELLS = [
    Cell(row, column, cls, phone)
    for row in TABLE
    for column in COLUMNS
    for cls in CLASSES_OF[Kind(row.partition(",")[0])]
    for phone in (False, True)
]
ALBUM = Facts(topic=Kind.ARTIST, cls="new-album", mobile_known=True, email_known=True)
LIST = Facts(topic=Kind.PLAYLIST, cls="playlist", mobile_known=True, email_known=True)
LIMITS = RULES.settings


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_every_cell_of_the_table_is_what_the_rules_say(cell: Cell) -> None:
    """SB-40"""
    verdict = RULES.decide(cell.facts)
    assert told(verdict) == cell.channels
    assert {verdict.push, verdict.email} <= {Way.NO, Way.NOW}


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_what_went_through_the_engine_before_keeps_all_of_its_cell_but_the_engine(cell: Cell) -> None:
    """Spec 6, `rt_sent`; SB-31"""
    assert told(RULES.decide(replace(cell.facts, sent=True))) == cell.channels - {ENGINE}


@pytest.mark.parametrize("row", TABLE)
@pytest.mark.parametrize("column", COLUMNS[2:])
def test_a_user_who_is_online_on_two_devices_gets_the_treatment_of_each(row: str, column: str) -> None:
    """SB-40; whether mail is allowed makes no difference to who is online."""
    cls = CLASSES_OF[Kind(row.partition(",")[0])][0]
    facts = replace(Cell(row, column, cls, True).facts, desktop=True, mobile=True)
    assert told(RULES.decide(facts)) == TABLE[row][0] | TABLE[row][1]


def test_who_opted_out_of_push_or_has_no_address_gets_the_rest() -> None:
    assert told(RULES.decide(replace(ALBUM, push_off=True))) == {ROW, EMAIL}
    assert told(RULES.decide(replace(ALBUM, email_known=False))) == {ROW, PUSH}


def test_opting_out_of_the_list_takes_the_row_and_its_live_copy_but_no_line_of_the_friend_feed() -> None:
    assert told(RULES.decide(replace(ALBUM, desktop=True, in_client_off=True))) == set()
    assert told(RULES.decide(replace(LIST, desktop=True, friend=True, in_client_off=True))) == {ENGINE}


def test_nobody_opts_out_of_the_list_for_a_mandatory_class_but_of_push_and_mail() -> None:
    """SB-41"""
    opted_out = replace(ALBUM, mandatory=True, in_client_off=True, push_off=True, email_off=True)
    assert told(RULES.decide(opted_out)) == {ROW}
    assert told(RULES.decide(replace(opted_out, desktop=True))) == {ENGINE, ROW}
    assert told(RULES.decide(replace(ALBUM, mandatory=True, desktop=True))) == {ENGINE, ROW}


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_of_what_is_muted_nothing_is_told_unless_it_is_mandatory(cell: Cell) -> None:
    muted = replace(cell.facts, muted=True)
    assert told(RULES.decide(muted)) == set()
    assert told(RULES.decide(replace(muted, mandatory=True))) == cell.channels - {PUSH, EMAIL}


def test_in_quiet_hours_a_push_waits_until_they_end_and_the_rest_does_not() -> None:
    verdict = RULES.decide(replace(ALBUM, quiet=True))
    assert (verdict.in_client, verdict.push, verdict.email) == (True, Way.AFTER_QUIET, Way.NOW)


def test_who_wants_mails_collected_gets_them_in_the_digest() -> None:
    verdict = RULES.decide(replace(ALBUM, digest=True))
    assert (verdict.in_client, verdict.push, verdict.email) == (True, Way.NOW, Way.DIGEST)


def test_mails_that_are_too_many_go_to_the_digest() -> None:
    assert RULES.decide(replace(ALBUM, mails_recent=LIMITS.mails_per_window - 1)).email is Way.NOW
    assert RULES.decide(replace(ALBUM, mails_recent=LIMITS.mails_per_window)).email is Way.DIGEST


@pytest.mark.parametrize("facts", [ALBUM, replace(ALBUM, mobile=True), replace(LIST, mobile=True), replace(LIST, mobile=True, friend=True)])
def test_pushes_that_are_too_many_leave_a_row(facts: Facts) -> None:
    assert RULES.decide(replace(facts, pushes_recent=LIMITS.pushes_per_window - 1)).push is Way.NOW
    throttled = RULES.decide(replace(facts, pushes_recent=LIMITS.pushes_per_window))
    assert throttled.push is Way.NO
    assert throttled.in_client


def test_the_reasons_tell_why_something_came_and_why_it_did_not() -> None:
    verdict = RULES.decide(replace(ALBUM, email_off=True, quiet=True))
    assert verdict.reasons == ("offline-row", "offline-mail", "offline-push", "-email:opted-out-of-mail", "~push:quiet-hours")


def test_a_webhook_is_told_whatever_its_user_does_unless_they_opted_out_or_muted_it() -> None:
    """SB-43."""
    known = replace(ALBUM, webhook_known=True)
    for facts in (known, replace(known, desktop=True), replace(known, mobile=True), replace(known, quiet=True, digest=True)):
        assert RULES.decide(facts).webhook is Way.NOW
    for facts in (ALBUM, replace(known, webhook_off=True), replace(known, muted=True), replace(known, muted=True, mandatory=True)):
        assert RULES.decide(facts).webhook is Way.NO
    assert RULES.decide(Facts(topic=Kind.USER, webhook_known=True, desktop=True)).webhook is Way.NO

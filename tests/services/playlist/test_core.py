"""What a change makes of a playlist, compared with a list that is changed in place."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from services.playlist import core
from services.playlist.change import MAX_TRACKS, Add, Create, Edit, Remove, Rename, Reorder, SetCollaborative, edit_tracks
from services.playlist.core import MAX_TOLD_BYTES, ChangeEvent, Playlist, Told

LISTS = st.lists(st.sampled_from("abcdef"), max_size=8)


def playlist(**fields: object) -> Playlist:
    """Returns a playlist of ann at version 3."""
    return msgspec.structs.replace(Playlist("ann", "p", 3, "Ró", False, ["a", "b"], 1), **fields)


def told(step: core.PlaylistStep) -> Told:
    """Returns what followers are told."""
    promise = msgspec.json.decode(step.tasks[0].body, type=ChangeEvent)
    return msgspec.json.decode(promise.payload, type=Told)


@settings(max_examples=300)
@given(tracks=LISTS, position=st.integers(0, 9), to=st.integers(0, 9), count=st.integers(1, 4))
def test_moving_tracks_is_taking_them_out_and_putting_them_before_the_same_neighbour(
    tracks: list[str], position: int, to: int, count: int
) -> None:
    numbered = [f"{n}{track}" for n, track in enumerate(tracks)]
    moved = numbered[position : position + count]
    try:
        found = edit_tracks(numbered, Reorder(position, to, count))
    except Refused:
        assert position + count > len(tracks) or to > len(tracks) or position < to < position + count
        return
    neighbour = numbered[to] if to < len(tracks) and to != position else None
    assert [each for each in found if each not in moved] == [each for each in numbered if each not in moved]
    at = found.index(moved[0])
    assert found[at : at + count] == moved
    if neighbour is not None:
        assert found[at + count] == neighbour
    elif to == len(tracks):
        assert at + count == len(found)


@settings(max_examples=200)
@given(tracks=LISTS, new=LISTS, position=st.integers(0, 9), count=st.integers(1, 4))
def test_adding_and_removing_are_inverse(tracks: list[str], new: list[str], position: int, count: int) -> None:
    if position > len(tracks):
        with pytest.raises(Refused, match="bad-field"):
            edit_tracks(tracks, Add(new, position))
        return
    longer = edit_tracks(tracks, Add(new, position))
    assert longer[position : position + len(new)] == new
    assert (edit_tracks(longer, Remove(position, len(new))) if new else longer) == tracks


def test_a_playlist_has_a_greatest_length() -> None:
    full = ["t"] * MAX_TRACKS
    assert edit_tracks(full[1:], Add(["u"])) == [*full[1:], "u"]
    with pytest.raises(Refused, match="too-large"):
        edit_tracks(full, Add(["u"]))


@pytest.mark.parametrize(
    ("user", "collaborative", "edit", "allowed"),
    [
        ("ann", False, Add(["t"]), True),
        ("ann", True, SetCollaborative(False), True),
        ("bob", False, Add(["t"]), False),
        ("bob", False, Rename("n"), False),
        ("bob", True, Add(["t"]), True),
        ("bob", True, Rename("n"), True),
        ("bob", True, SetCollaborative(False), False),
    ],
)
def test_who_may_write(user: str, collaborative: bool, edit: Edit, allowed: bool) -> None:
    """SB-7."""
    before = playlist(collaborative=collaborative)
    if allowed:
        step = core.edit(before, user, edit, None, 2, "ev")
        assert (step.playlist.version, told(step).by) == (4, user)
    else:
        with pytest.raises(Refused, match="forbidden"):
            core.edit(before, user, edit, None, 2, "ev")


def test_an_addition_at_the_end_is_told_with_its_position() -> None:
    """SB-33: followers need not know how long the list was."""
    assert told(core.edit(playlist(), "ann", Add(["c"]), None, 2, "ev")).change == Add(["c"], 2)


def test_a_large_change_is_told_as_one_that_must_be_fetched() -> None:
    step = core.edit(playlist(), "ann", Add(["x" * 128] * 100), None, 2, "ev")
    assert (told(step).change, told(step).version) == (None, 4)
    assert all(len(task.body) < MAX_TOLD_BYTES + 1024 for task in step.tasks)


def test_each_change_promises_an_event_a_line_in_the_feed_a_post_and_a_notification_under_one_id() -> None:
    """SB-8: and those who follow the owner follow what is new before they are told of it (SB-6)."""
    created = core.create("ann", "p", Create("n", False, []), 1, "ev-1")
    edited = core.edit(created.playlist, "ann", Rename("m"), 1, 2, "ev-2")
    deleted = core.delete(edited.playlist, "ann", 2, 3, "ev-3")
    each = ["publish", "act", "post", "notify"]
    ops = [[task.op for task in step.tasks] for step in (created, edited, deleted)]
    assert ops == [["enlist", *each], each, [*each, "dismiss"]]
    assert [{task.id for task in step.tasks} for step in (created, edited, deleted)] == [{"ev-1"}, {"ev-2"}, {"ev-3"}]
    assert len({(task.lane, task.key) for task in created.tasks if task.op in ("enlist", "notify")}) == 1

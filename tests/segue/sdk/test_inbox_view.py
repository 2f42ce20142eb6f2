"""The view of an inbox: pages, what comes live, and changes on whatever device, against a server that plays by the protocol."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from segue.sdk.inbox_view import InboxView
from segue.sdk.notification_messages import Notification, NotificationPage, ReadElsewhere
from tests.support.inbox_model import InboxModel

ACTIONS = ("read", "unread", "archive", "unarchive", "delete")


def page(server: InboxModel, **asked: Any) -> NotificationPage:
    return msgspec.convert(server.list("laptop", {"archived": False, **asked}), NotificationPage)


def live(item: dict[str, Any]) -> Notification:
    return msgspec.convert(item, Notification)


def news_of(server: InboxModel) -> list[ReadElsewhere]:
    told, server.news = server.news, []
    return [msgspec.convert(each, ReadElsewhere) for each in told]


def viewed(count: int, limit: int = 50) -> tuple[InboxModel, InboxView]:
    server, view = InboxModel(), InboxView()
    for _ in range(count):
        server.store()
    view.loaded(page(server, limit=limit), archived=False, anew=True)
    return server, view


def shown(view: InboxView, **which: Any) -> list[tuple[int, bool]]:
    return [(item.mark, item.read) for item in view.select(**which)]


def test_pages_are_newest_first_and_go_on_where_they_ended() -> None:
    server, view = viewed(5, limit=2)
    assert (shown(view), view.next) == ([(5, False), (4, False)], {False: 4})
    view.loaded(page(server, before=4, limit=5), archived=False, anew=False)
    assert ([mark for mark, _ in shown(view)], view.next) == ([5, 4, 3, 2, 1], {False: None})


def test_what_comes_live_is_on_top_and_what_lies_below_the_pages_is_not_in_view() -> None:
    server, view = viewed(5, limit=2)
    view.came([live(server.store()), live(server.items[0])], server.epoch)
    assert [item.mark for item in view.items] == [6, 5, 4]


def test_a_change_on_another_device_changes_the_view() -> None:
    server, view = viewed(3)
    for action, marks in (("archive", [2]), ("unread", [1]), ("read", [3]), ("delete", [1])):
        server.change("phone", {"action": action, "marks": marks})
        for news in news_of(server):
            view.heard(news)
    assert not view.is_stale
    assert (shown(view), shown(view, archived=True), shown(view, archived=None)) == ([(3, True)], [(2, False)], [(3, True), (2, False)])


def test_the_read_mark_reads_all_below_it() -> None:
    server, view = viewed(3)
    server.read("phone", {"mark": 2})
    server.change("phone", {"action": "unread", "marks": [1]})
    server.read("phone", {"mark": 1})
    for news in news_of(server):
        view.heard(news)
    assert (shown(view), view.is_stale) == ([(3, False), (2, True), (1, True)], False)


def test_a_change_that_was_missed_shows_and_an_old_one_says_nothing() -> None:
    server, view = viewed(3)
    for mark in (1, 2):
        server.change("phone", {"action": "archive", "marks": [mark]})
    lost, heard = news_of(server)
    view.heard(heard)
    assert (view.is_stale, [mark for mark, _ in shown(view)]) == (True, [3, 1])
    view.loaded(page(server), archived=False, anew=True)
    assert (view.is_stale, [mark for mark, _ in shown(view)]) == (False, [3])
    server.change("phone", {"action": "unarchive", "marks": [1]})
    (newer,) = news_of(server)
    view.heard(newer)
    assert view.is_stale  # it is not here, and belongs here
    view.loaded(page(server), archived=False, anew=True)
    view.heard(lost)
    assert (view.is_stale, [mark for mark, _ in shown(view)]) == (False, [3, 1])


def test_any_answer_shows_that_a_change_was_missed() -> None:
    server, view = viewed(3)
    server.change("phone", {"action": "archive", "marks": [1]})
    view.heard(msgspec.convert(server.read_elsewhere(), ReadElsewhere))
    assert view.is_stale


def test_a_change_of_this_device_shows_at_once_unless_others_have_changed_it_since() -> None:
    server, view = viewed(2)
    answer = server.change("laptop", {"action": "archive", "marks": [2]})
    view.done("archive", [2], answer["changed"])
    assert [mark for mark, _ in shown(view)] == [1]
    server.change("phone", {"action": "unarchive", "marks": [2]})
    for news in news_of(server):
        view.heard(news)
    view.done("archive", [2], answer["changed"])
    assert ([mark for mark, _ in shown(view)], view.is_stale) == ([2, 1], False)


def test_a_late_live_copy_of_what_was_deleted_is_not_shown() -> None:
    server, view = viewed(1)
    late = live(server.store())
    server.change("phone", {"action": "delete", "marks": [2]})
    for news in news_of(server):
        view.heard(news)
    view.came([late], server.epoch)
    assert [item.mark for item in view.items] == [1]


def test_another_epoch_begins_anew() -> None:
    server, view = viewed(2)
    server.put_back(server.backup())
    view.came([live(server.store())], server.epoch)
    assert view.is_stale
    view.loaded(page(server, before=1), archived=False, anew=False)
    assert view.is_stale
    view.loaded(page(server), archived=False, anew=True)
    assert (view.epoch, view.is_stale, len(view.items)) == (2, False, 3)
    view.heard(ReadElsewhere(3, 0, 1))
    assert view.is_stale


def test_what_is_loaded_is_searched_and_filtered() -> None:
    server, view = viewed(1)
    for payload, class_ in (({"artist": "Björk", "album": "Post"}, "new-album"), ({"user": "eve", "plays": 7}, "friend-joined")):
        view.came([live(server.store(payload=payload) | {"class": class_})], server.epoch)
    found = [[item.mark for item in view.select(text=text)] for text in ("", "BJÖRK post", "björk 1", "eve", "7", "artist", "nobody")]
    assert found == [[3, 2, 1], [2], [1], [3], [3], [], []]
    assert [item.mark for item in view.select(class_="friend-joined")] == [3]
    view.heard(ReadElsewhere(2, 1, server.epoch))
    assert [item.mark for item in view.select(unread=True)] == [3]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*ACTIONS, "store", "read-up-to"]), st.integers(1, 8), st.sampled_from(["heard", "heard", "lost", "late"])
        ),
        max_size=30,
    )
)
def test_whatever_is_lost_or_late_a_view_that_is_not_stale_shows_what_the_server_has(steps: list[tuple[str, int, str]]) -> None:
    """A view knows when it has missed a change, at the latest with the next one."""
    server, view = viewed(4)
    late: list[ReadElsewhere] = []
    for action, mark, fate in [*steps, ("archive", 1, "heard")]:
        if action == "store":
            view.came([live(server.store())], server.epoch)
        elif action == "read-up-to":
            server.read("phone", {"mark": mark})
            for news in news_of(server):
                view.heard(news)  # what was read only, without a change, shows with the next answer
        else:
            server.change("phone", {"action": action, "marks": [mark]})
            for news in news_of(server):
                if fate == "heard":
                    view.heard(news)
                elif fate == "late":
                    late.append(news)
    for news in late:
        view.heard(news)
    server.change("phone", {"action": "unread", "marks": [server.store()["mark"]]})
    view.came([live(server.items[-1])], server.epoch)
    for news in news_of(server):
        view.heard(news)
    if view.is_stale:
        view.loaded(page(server), archived=False, anew=True)
    expected = [(item.mark, item.read) for item in page(server).items]
    assert shown(view) == expected

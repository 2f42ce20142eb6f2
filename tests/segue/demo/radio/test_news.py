"""What pages of Segue Radio are told."""

from segue.demo.radio.news import MOST_WAITING, RadioNews, encoded


def test_all_pages_of_a_user_are_told_and_nobody_else() -> None:
    news = RadioNews()
    with news.page("ann") as one, news.page("ann") as other, news.page("bob") as stranger:
        news.tell("ann", "mail", {"subject": "Post"})
        assert [queue.get_nowait() for queue in (one, other)] == [("mail", {"subject": "Post"})] * 2
        assert stranger.empty()
    news.tell("ann", "mail", {})
    assert one.empty()


def test_a_page_that_does_not_read_loses_the_oldest() -> None:
    news = RadioNews()
    with news.page("ann") as page:
        for number in range(MOST_WAITING + 2):
            news.tell("ann", "push", {"number": number})
        assert page.qsize() == MOST_WAITING
        assert page.get_nowait() == ("push", {"number": 2})


def test_a_piece_is_one_event_whatever_it_says() -> None:
    assert encoded(("mail", {"text": "a\n\nevent: push"})) == b'event: mail\ndata: {"text":"a\\n\\nevent: push"}\n\n'

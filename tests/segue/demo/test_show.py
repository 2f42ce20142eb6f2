"""What one sees of a run: lines of text, and a panel that is drawn again and again."""

import io

import pytest
from rich.console import Console

from segue.demo.figures import Figures
from segue.demo.listening import Play
from segue.demo.live import LiveShow
from segue.demo.oracle import Latency
from segue.demo.show import Show, milliseconds


def figures(elapsed_s: float = 5.0, lost: int = 0, artist: str = "Björk") -> Figures:
    latency = Latency(p50=1.0, p99=12.34, max=123.4)
    return Figures(
        elapsed_s=elapsed_s,
        events=1_000,
        delivered=19_000,
        lost=lost,
        events_per_s=100.0,
        deliveries_per_s=1_900.0,
        latency_ms={"local": latency, "cross_site": latency},
        history=(0.0, 950.0, 1_900.0),
        recent=((Play(1.0, "lastfm-1", 7, artist, 3), 12), (Play(1.0, "lastfm-2", 7, artist, 3), 1)),
    )


def test_in_plain_text_each_step_is_a_line_when_it_is_over_and_playing_one_every_few_seconds() -> None:
    file = io.StringIO()
    show = Show(Console(file=file))
    with show, show.phase("connect", 3) as phase:
        phase.outcome = "3 users"
        for elapsed_s in (1.0, 4.9, 5.0, 9.9, 10.2):
            show.playing(figures(elapsed_s))
    first, second, last = file.getvalue().splitlines()
    assert first == (
        "    5 s  1,000 plays (100/s), 19,000 deliveries (1,900/s), 0 lost; "
        "latency local p50 1.0 ms, p99 12.3 ms, cross-site p50 1.0 ms, p99 12.3 ms"
    )
    assert second.startswith("   10 s")
    assert last == f"connect  3 users ({phase.took_s:.1f} s)"


@pytest.mark.parametrize(("value", "text"), [(None, "-"), (0.04, "0.0 ms"), (99.94, "99.9 ms"), (99.95, "100 ms"), (12_345.6, "12,346 ms")])
def test_milliseconds_are_short(value: float | None, text: str) -> None:
    assert milliseconds(value) == text


def drawn(show: LiveShow, file: io.StringIO) -> str:
    """Returns the panel of this moment, as text."""
    show.console.print(show.frame())
    text = file.getvalue()
    file.seek(0)
    file.truncate()
    return text


def live(width: int = 100, height: int = 40) -> tuple[LiveShow, io.StringIO]:
    file = io.StringIO()
    return LiveShow(Console(file=file, width=width, height=height)), file


def test_the_panel_shows_the_steps_with_a_bar_at_the_running_one() -> None:
    show, file = live()
    with show.phase("data") as phase:
        phase.outcome = "60 users"
    with show.phase("connect", 60) as phase:
        phase.one_done()
        text = drawn(show, file)
    assert "✓ data     60 users" in text
    assert "1 of 60" in text
    assert "Ctrl-C" not in text


def test_the_panel_shows_the_figures_while_it_plays() -> None:
    show, file = live()
    show.say("look at http://127.0.0.1:1/key")
    with show.phase("play", 20, "s"):
        show.playing(figures(lost=3))
        text = drawn(show, file)
    for words in ("deliveries    19,000    1,900/s", "lost               3", "cross-site    1.0 ms   12.3 ms    123 ms", "peak 1,900", "█"):
        assert words in text
    for words in ("♪ lastfm-1     Björk · Track 3", "→ 12 friends", "→ 1 friend ", "look at http://127.0.0.1:1/key", "Ctrl-C ends"):
        assert words in text
    show.summary("the end")
    text = drawn(show, file)
    assert "the end" in text
    assert "look at" not in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 24), (200, 60)])
def test_the_panel_fits_the_terminal(width: int, height: int) -> None:
    show, file = live(width, height)
    for name in ("data", "place", "cluster", "connect", "follow"):
        with show.phase(name) as phase:
            phase.outcome = "600 in sto, 630 in lon, 662 in ash"
    with show.phase("play", 20, "s"):
        show.playing(figures())
        lines = drawn(show, file).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < height


def test_control_characters_of_the_data_do_not_reach_the_terminal() -> None:
    show, file = live()
    with show.phase("play", 20, "s"):
        show.playing(figures(artist="\x1b[2J\x9b"))
        text = drawn(show, file)
    assert "\\u001b[2J\\u009b · Track 3" in text
    assert text.replace("\n", "").isprintable()

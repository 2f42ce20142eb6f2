"""Settings of GossipSub: what is refused, what v1.0 is without, and where numbers stand for kernels."""

from typing import Any

import pytest

from overlay.protocol import gossip_scores as places
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.errors import OverlayError
from overlay.simulator.gossipsub.options import GossipSubOptions, ScoreOptions


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"low": 7}, "low <= wanted"),
        ({"high": 17}, "high <= 16"),
        ({"best": 7}, "best <= wanted"),
        ({"outbound": 4}, "outbound < low"),
        ({"wanted": 5, "outbound": 3}, "at most half"),
        ({"gossip_windows": 6}, "give 1 to 5"),
        ({"factor": 1.5}, "share from 0 to 1"),
        ({"dials": 0}, "1 or more"),
    ],
)
def test_options_that_do_not_fit_each_other_are_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(OverlayError, match=says):
        GossipSubOptions(**wrong)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"first_keeps": 1.0}, "first_keeps is 1"),
        ({"publish_from": -5.0}, "publish_from <= gossip_from"),
        ({"exchange_from": -1.0}, "are 0 or more"),
        ({"delivery_cap": 1.0}, "delivery_cap is at least"),
    ],
)
def test_scores_that_make_no_sense_are_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(OverlayError, match=says):
        ScoreOptions(**wrong)


def test_v1_0_is_without_all_that_v1_1_added() -> None:
    old, new = GossipSubOptions(version="v1.0").rules(), GossipSubOptions().rules()
    added = ("guarded", "best", "outbound", "factor_permille", "floods", "exchanged", "backoff_us", "slack_us", "opportunistic_peers")
    assert [getattr(old, name) for name in added] == [0] * len(added)
    assert [getattr(new, name) for name in added] == [1, 4, 2, 250, 1, 16, 60_000_000, 1_000_000, 2]
    assert (new.wanted, new.low, new.high, new.lazy) == (old.wanted, old.low, old.high, old.lazy) == (6, 4, 12, 6)


def test_scores_are_whole_numbers_in_their_places() -> None:
    settings = ScoreOptions(time_weight=0.01, graylist_below=-80.5, delivery_window_ms=2.5, host_most=7).settings(INTERPRETED)
    assert len(settings) == places.SETTINGS
    assert settings[places.TIME_WEIGHT] == 10
    assert settings[places.TIME_QUANTUM_US] == 1_000_000
    assert settings[places.GRAYLIST_BELOW] == -80_500_000
    assert settings[places.DELIVERY_WINDOW_US] == 2500
    assert settings[places.HOST_MOST] == 7

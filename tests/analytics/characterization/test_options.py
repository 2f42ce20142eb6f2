"""Options that cannot be chosen are refused, with those that can."""

import pytest

from analytics.characterization.options import Options
from analytics.errors import TraceError


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"service": "podcast"}, "services are presence, playlist, social, artist"),
        ({"bin_minutes": 0}, "choose 1 to 1440"),
        ({"bin_minutes": 1441}, "choose 1 to 1440"),
        ({"bootstraps": -1}, "may be negative"),
        ({"seed": -1}, "may be negative"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(chosen: dict[str, object], message: str) -> None:
    with pytest.raises(TraceError, match=message):
        Options(**chosen)  # type: ignore[arg-type]

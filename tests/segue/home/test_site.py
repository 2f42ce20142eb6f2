"""The site as the first page is told of it."""

import pytest

from segue.home.site import ClientPlace, HomeSite


@pytest.mark.parametrize(
    ("host", "origins"),
    [
        ("127.0.0.1", ["ws://127.0.0.1:7700", "http://127.0.0.1:7731"]),
        ("[::1]", ["ws:", "http:"]),
    ],
)
def test_the_page_may_connect_to_these_services_and_no_others(host: str, origins: list[str]) -> None:
    place = ClientPlace("sto", f"ws://{host}:7700/v1/connect")
    site = HomeSite([place, place], social=f"http://{host}:7731", notification=None, policy="social", mail=False)
    assert site.origins == origins

"""Addresses are completed or refused."""

import pytest

from segue.sdk.address import doors
from segue.sdk.errors import Misuse


def ws(*urls: str) -> tuple[str, ...]:
    return doors(urls, schemes=("ws", "wss"), path="/v1/connect")


def test_the_path_of_the_door_is_added_when_there_is_none() -> None:
    assert ws("ws://h:1", "wss://h/", "ws://[::1]:7?x=1") == ("ws://h:1/v1/connect", "wss://h/v1/connect", "ws://[::1]:7/v1/connect?x=1")


def test_another_path_is_kept() -> None:
    assert ws("ws://h/segue/v1/connect") == ("ws://h/segue/v1/connect",)


def test_one_address_needs_no_list() -> None:
    assert doors("http://h", schemes=("http",), path="/v1/events") == ("http://h/v1/events",)


@pytest.mark.parametrize("url", ["ws://h:0", "http://h", "h:7700", "ws://", "ws://:80", "", "ws://h:port", "ws://["])
def test_what_is_no_address_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(Misuse, match=r"ws://127\.0\.0\.1:7700/v1/connect"):
        ws(url)

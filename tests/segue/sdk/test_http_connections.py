"""segue.sdk.http_connections: what has connections is begun once, used while it is open, and closed."""

import ssl
from collections.abc import Callable
from typing import Any

import pytest

from segue.sdk.errors import Misuse
from segue.sdk.http_connections import HttpConnections
from segue.sdk.operator import Operator
from segue.sdk.playlists import PlaylistClient
from segue.sdk.publisher import Publisher, PublisherOptions
from segue.sdk.social import Social

URL = "http://127.0.0.1:1"
EVERY: list[tuple[type[Any], Callable[[Any], Any]]] = [
    (Operator, lambda operator: operator.sessions("ann")),
    (PlaylistClient, lambda playlists: playlists.get("ann", "summer")),
    (Publisher, lambda publisher: publisher.publish("hm://presence/user/ann/", "play", {})),
    (Social, lambda social: social.set_listening("friends")),
]


@pytest.mark.parametrize(("kind", "use"), EVERY)
async def test_what_is_not_open_says_what_to_write(kind: type[Any], use: Callable[[Any], Any]) -> None:
    made = kind(URL, "token")
    with pytest.raises(Misuse, match=rf"write `async with segue.{kind.__name__}\(...\) as {kind.__name__.lower()}:`"):
        await use(made)
    async with made:
        pass
    with pytest.raises(Misuse, match="not open"):
        await use(made)


@pytest.mark.parametrize(("kind", "use"), EVERY)
async def test_each_is_entered_once(kind: type[HttpConnections], use: object) -> None:
    made: Any = kind(URL, "token")  # type: ignore[call-arg, arg-type]
    async with made:
        with pytest.raises(Misuse, match="entered once"):
            await made.__aenter__()
    with pytest.raises(Misuse, match="entered once"):
        await made.__aenter__()


async def test_closing_twice_is_closing_once() -> None:
    async with Social(URL, "token") as social:
        await social.close()
        await social.close()


@pytest.mark.parametrize("kind", [Operator, Social])
def test_authorities_are_named_once(kind: type[Any]) -> None:
    with pytest.raises(Misuse, match="either ca_file or tls"):
        kind(URL, "token", ca_file="ca.pem", tls=ssl.create_default_context())


def test_a_publisher_names_them_in_its_options() -> None:
    with pytest.raises(Misuse, match="either ca_file or tls"):
        PublisherOptions(ca_file="ca.pem", tls=ssl.create_default_context())

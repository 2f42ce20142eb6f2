"""Makes `docs/openapi*.json` from routes and types: `.venv/bin/python -m tests.deploy.openapi_pages`."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from broker import openapi as broker
from broker import operator_openapi as operator
from infra.runtime.http.openapi import Described, Document, render
from infra.runtime.http.web import Route
from notification import openapi as notification
from notification.handlers import NotificationHandlers
from notification.webhook_handlers import WebhookHandlers
from services.artist import openapi as artist
from services.artist.handlers import ArtistHandlers
from services.playlist import openapi as playlist
from services.playlist.handlers import PlaylistHandlers
from services.playlist.lists import PlaylistListHandlers
from services.social import openapi as social
from services.social.handlers import SocialHandlers
from services.social.privacy_handlers import PrivacyHandlers
from tests.architecture.test_house import PROJECT

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
VERSION: Final = PROJECT["project"]["version"]
WIDTH: Final = 150


def routes(*handlers: type[Any]) -> Iterator[Route]:
    """Yields the routes of each class of handlers. They only name methods, so the handlers need nothing to stand on."""
    for each in handlers:
        yield from object.__new__(each).routes()


def pages() -> dict[str, str]:
    """Returns the text of every page, by the name of its file."""
    found: dict[str, tuple[Document, Iterable[Described]]] = {
        "openapi.json": (broker.DOCUMENT, broker.ROUTES),
        "openapi-artist.json": (artist.DOCUMENT, routes(ArtistHandlers)),
        "openapi-notification.json": (notification.DOCUMENT, routes(NotificationHandlers, WebhookHandlers)),
        "openapi-operator.json": (operator.DOCUMENT, operator.ROUTES),
        "openapi-playlist.json": (playlist.DOCUMENT, routes(PlaylistHandlers, PlaylistListHandlers)),
        "openapi-social.json": (social.DOCUMENT, routes(SocialHandlers, PrivacyHandlers)),
    }
    return {name: text(render(document, known, version=VERSION)) + "\n" for name, (document, known) in found.items()}


def text(value: object, indent: int = 0, used: int = 0) -> str:
    """Returns `value` in JSON: on one line where it fits behind `used` characters and an indent, else a member a line."""
    flat = json.dumps(value, ensure_ascii=False)
    if indent + used + len(flat) < WIDTH or not isinstance(value, dict | list):
        return flat
    inner = indent + 2
    keys = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    values = value.values() if isinstance(value, dict) else value
    members = [" " * inner + key + text(each, inner, len(key)) for key, each in zip(keys, values, strict=True)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(members) + "\n" + " " * indent + closing


if __name__ == "__main__":
    for name, page in pages().items():
        (DOCS / name).write_text(page, encoding="utf-8")

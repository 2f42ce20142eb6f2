"""Bodies of publishing requests in the form of CloudEvents 1.0 (JSON event format, structured and batched). Pure.

| attribute | here |
|---|---|
| `subject` | the topic |
| `type` | the kind: what stands behind its last dot, so that "org.example.play" is a `play` |
| `source`, `id` | together the id of the event, since they are what tells two CloudEvents apart |
| `data` | the payload |

All other attributes are taken and not passed on: clients get what they get of any event.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Annotated, Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.events import Submission
from infra.kernel.json_text import read_json

from .submissions import raw_items

VERSION: Final = "1.0"
ID_PREFIX: Final = "ce:"
_DIGEST_BYTES: Final = 16

Required = Annotated[str, msgspec.Meta(min_length=1)]


class CloudEvent(msgspec.Struct):
    """A CloudEvent, with the attributes that are looked at here. `data` stays the JSON text that came in."""

    specversion: str
    id: Required
    source: Required
    type: Required
    subject: str = ""
    datacontenttype: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"")


_ONE: Final = msgspec.json.Decoder(CloudEvent)


def decode_cloud_event(text: bytes) -> Submission | Refused:
    """Returns what the CloudEvent in `text` submits, or why it is refused."""
    try:
        event = read_json(text, _ONE)
        _check(event)
    except Refused as refused:
        return refused
    return Submission(event.subject, event.type.rpartition(".")[2], event.data, _id_of(event))


def decode_cloud_batch(body: bytes, most: int) -> Iterable[Submission | Refused]:
    """Returns what each CloudEvent of a batch submits, or why it is refused. Raises `Refused` as `raw_items`."""
    return map(decode_cloud_event, raw_items(body, most))


def _check(event: CloudEvent) -> None:
    """Raises `Refused("bad-field")` for what is no CloudEvent of this version, and for one that is no event here."""
    if event.specversion != VERSION:
        raise Refused("bad-field", f'specversion must be "{VERSION}", not {event.specversion!r:.20}')
    if not event.subject:
        raise Refused("bad-field", 'subject must be there: it is the topic, such as "hm://presence/user/bob/"')
    if not _is_json(event.datacontenttype):
        raise Refused("bad-field", f"data must be JSON here, so datacontenttype cannot be {event.datacontenttype!r:.60}")
    if not bytes(event.data):
        raise Refused("bad-field", "data must be there, and a JSON object: it is the payload; data_base64 is not taken")


def _is_json(content_type: str | None) -> bool:
    media = (content_type or "application/json").partition(";")[0].strip().lower()
    return media == "application/json" or media.endswith("+json")


def _id_of(event: CloudEvent) -> str:
    """Returns the same short id for the same `source` and `id`, whatever they are made of."""
    said = msgspec.json.encode((event.source, event.id))
    return ID_PREFIX + sha256(said).digest()[:_DIGEST_BYTES].hex()

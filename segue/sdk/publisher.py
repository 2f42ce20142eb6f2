"""The publishing SDK for services: events to any broker over HTTP (design 4.2).

    async with segue.Publisher("http://127.0.0.1:7710", token) as publisher:
        await publisher.publish("hm://presence/user/bob/", "play", {"artist": "Björk"})

Every event has an id before its first try, and a broker drops an id that it has seen lately on the topic. So a publisher repeats what
was not answered, and followers get it once. Accepted means in memory and on its way; nothing is stored.
"""

import asyncio
import contextlib
import random
import ssl
import uuid
from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import msgspec

from infra.kernel.backoff import Backoff, Rng
from infra.runtime.bounded_answer import bounded_body
from infra.runtime.network_reason import network_reason
from segue.sdk.address import doors
from segue.sdk.batches import batches
from segue.sdk.broker_answer import read_answer
from segue.sdk.errors import ConnectionLost, Misuse, SegueError, refusal
from segue.sdk.http_connections import HttpConnections
from segue.sdk.publication import PendingBatch, Publication, Rejection, Result
from segue.sdk.token_source import Token, fresh
from segue.sdk.trust import CaFile, check_trust


@dataclass(frozen=True, slots=True, kw_only=True)
class PublisherOptions:
    """The options of a publisher. Raises Misuse when a value cannot work.

    - `batch_events`, `batch_bytes`: the most events of a batch, and the most bytes of NDJSON.
    - `tries`: how often a batch is tried.
    - `answer_timeout_s`: how long a broker may take for the answer to one try.
    - `ca_file`: the authorities that are believed at https addresses, as PEM; None: those that this machine trusts.
    - `tls`: a context for https addresses, instead.
    - `backoff`: the delays between tries.
    """

    batch_events: int = 500
    batch_bytes: int = 256 << 10
    tries: int = 8
    answer_timeout_s: float = 10.0
    ca_file: CaFile = None
    tls: ssl.SSLContext | None = None
    backoff: Backoff = field(default_factory=lambda: Backoff(base_s=0.1, cap_s=5.0))

    def __post_init__(self) -> None:
        check_trust(self.ca_file, self.tls)
        for name in ("batch_events", "batch_bytes", "tries", "answer_timeout_s"):
            if not getattr(self, name) > 0:
                raise Misuse(f"{name} must be more than 0, got {getattr(self, name)!r}")


class Publisher(HttpConnections):
    """A publisher of events, as one service.

    - `urls`: one broker or several; each failure moves on to the next one.
    - `token`: the service's JWT, or a function (plain or async) that is called for one at every request.
    - `options`: times and bounds.
    - `rng`: the randomness of the delays between tries.

    Any number of tasks may publish at the same time. Cancelling a call leaves open whether its events were published.
    """

    def __init__(self, urls: str | Iterable[str], token: Token, *, options: PublisherOptions | None = None, rng: Rng | None = None) -> None:
        self._options = options or PublisherOptions()
        timeout = aiohttp.ClientTimeout(total=self._options.answer_timeout_s)
        super().__init__(timeout, self._options.ca_file, self._options.tls)
        self._urls = doors(urls, schemes=("http", "https"), path="/v1/events")
        self._token = token
        self._rng = rng or random.Random()
        self._turn = 0

    async def publish(self, topic: str, kind: str, payload: dict[str, Any], id: str | None = None) -> str:
        """Publishes one event and returns its id. The arguments are the fields of a Publication.

        Raises Refused, and ConnectionLost when no broker accepted it in `tries` tries. It is safe to publish it again with the same id.
        """
        event_id = id or _new_id()
        result = await self._send([Publication(topic, kind, payload, event_id).line()])
        for rejection in result.rejected:
            raise refusal(rejection.code, rejection.reason)
        return event_id

    async def publish_many(self, publications: Iterable[Publication] | AsyncIterable[Publication]) -> Result:
        """Publishes all events, in order, in batches. Returns which were rejected; their index counts from the first one.

        An async source is sent as it comes. Raises what the source raises, ConnectionLost, and Refused where a batch was refused as a
        whole. A note on the error says how many events were dealt with before.
        """
        options = self._options
        lines = batches(publications, _line, max_items=options.batch_events, max_bytes=options.batch_bytes)
        sent = 0
        rejected: list[Rejection] = []
        async with contextlib.aclosing(lines):
            async for batch in lines:
                try:
                    result = await self._send(batch)
                except SegueError as error:
                    error.add_note(f"{sent} events before this batch were dealt with, {len(rejected)} of them rejected")
                    raise
                rejected += (msgspec.structs.replace(each, index=sent + each.index) for each in result.rejected)
                sent += len(batch)
        return Result(sent - len(rejected), tuple(rejected))

    async def _send(self, lines: list[bytes]) -> Result:
        batch = PendingBatch(lines)
        for attempt in range(self._options.tries):
            turn, is_last = self._turn, attempt + 1 == self._options.tries
            retry_after_s = 0.0
            try:
                batch.answered(await self._post(self._urls[turn % len(self._urls)], batch.body()))
            except ConnectionLost as lost:
                if is_last:
                    raise ConnectionLost(f"not published in {attempt + 1} tries: {lost.reason}", lost.code) from lost
                retry_after_s = lost.retry_after_s or 0.0
            if batch.is_done or is_last:
                break
            if self._turn == turn:  # unless another task has moved on already
                self._turn += 1
            await asyncio.sleep(max(retry_after_s, self._options.backoff.delay_s(attempt, self._rng)))
        return batch.result()

    async def _post(self, url: str, body: bytes) -> Result:
        headers = {"Authorization": f"Bearer {await fresh(self._token)}", "Content-Type": "application/x-ndjson"}
        try:
            async with self._http.post(url, data=body, headers=headers, allow_redirects=False) as response:
                return read_answer(url, response.status, await bounded_body(response), response.headers.get("Retry-After"))
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"{url} did not answer: {network_reason(error)}") from error


def _line(publication: Publication) -> bytes:
    return (publication if publication.id else msgspec.structs.replace(publication, id=_new_id())).line()


def _new_id() -> str:
    return uuid.uuid4().hex

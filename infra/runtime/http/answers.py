"""The answers that one HTTP connection owes, in the order of its requests."""

import logging
from asyncio import Future
from collections import Counter
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.http_headers import Headers

from .message import Answer, Response, json_error

_LOG: Final = logging.getLogger(__name__)


Owed = tuple[Answer | bytes, bool, Headers]
"""An answer, or bytes that are written as they are; whether the answer shows its body (HEAD wants none); what CORS adds to it."""


def all_known(owed: list[Owed]) -> bool:
    """Returns whether `take_known` would leave nothing behind."""
    return all(answer.done() for answer, _, _ in owed if isinstance(answer, Future))


def take_known(owed: list[Owed], refusals: Counter[str], *, closing: bool) -> bytes:
    """Removes the answers that are known from the front of `owed`, and returns their bytes.

    One that is not known yet holds back those behind it.

    - `refusals`: counts those that are refusals, by code.
    - `closing`: nothing will be added, so the very last answer says that the connection ends.
    """
    known: list[bytes] = []
    for answer, with_body, cors in owed:
        if isinstance(answer, Future):
            if not answer.done():
                break
            answer = outcome(answer)
        if isinstance(answer, Response):
            if answer.code:
                refusals[answer.code] += 1
            answer = answer.encode(keep_alive=not closing or len(known) < len(owed) - 1, with_body=with_body, cors=cors)
        known.append(answer)
    del owed[: len(known)]
    return known[0] if len(known) == 1 else b"".join(known)


def outcome(answer: Future[Response]) -> Response:
    """Returns what a finished future answers: its result, its refusal, or `internal-error` (logged) for anything else."""
    if answer.cancelled():
        return json_error(Refused("unavailable", "the answer was given up; try again"))
    error = answer.exception()
    if error is None:
        return answer.result()
    return json_error(error if isinstance(error, Refused) else defect(error))


def defect(error: BaseException) -> Refused:
    """Logs an exception that nobody should have raised and names it for the client, without its details."""
    _LOG.error("request failed", exc_info=error)
    return Refused("internal-error")

"""Segue to clients that come back and ask for what they missed."""

from collections.abc import Sequence

import msgspec

from .dialect import DialectError
from .segue import Segue


class _Subscribed(msgspec.Struct, frozen=True):
    """The fields of the response to a subscribe that asks to recover."""

    recovered: bool
    replayed: int = 0


_DECODE = msgspec.json.Decoder(_Subscribed).decode


class RecoveringSegue(Segue):
    """The dialect of clients who all go on from one point.

    - `state`: the folder with the secret of tokens.
    - `point`: where they go on; "" for clients that begin.

    `recovered` counts those who were told that they missed nothing more, `replayed` the events that they got before.
    """

    def __init__(self, state: str, point: str = "") -> None:
        super().__init__(state)
        self._point = {"point": point} if point else {}
        self.recovered = self.replayed = 0

    def hello(self, client: int, topics: Sequence[str]) -> list[bytes]:
        hello, _ = super().hello(client, ())
        subscribe = {"op": "subscribe", "id": 1, "topics": topics, "wait": "local", "recover": True, **self._point}
        return [hello, msgspec.json.encode(subscribe)]

    def confirms(self, message: bytes) -> bool:
        if message.startswith(b'{"op":"event"'):
            return False
        if not super().confirms(message):
            return False
        try:
            answer = _DECODE(message)
        except msgspec.DecodeError:
            raise DialectError(message[:200].decode()) from None
        self.recovered += answer.recovered
        self.replayed += answer.replayed
        return True

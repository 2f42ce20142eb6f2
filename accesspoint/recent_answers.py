"""Recent answers: what owners of topics have answered lately, for the next ones who come back. Pure.

When an access point is lost, its clients come to others all at once, and most of them have missed nothing on most of their topics. Whoever
was asked about a topic has answered up to a moment, and since then the topic comes here live. So until its next event the answer stands,
and nobody needs to be asked again. It is kept in the row of the topic, which gives it up with the next event, and with the last session.
"""

from typing import Final

from .recent_answer import RecentAnswer
from .row import Row

# So much of answers is kept, and for so long: a herd has come back by then.
MOST_BYTES: Final = 16 << 20
KEPT_S: Final = 30.0
# An answer costs so much beside its events.
ANSWER_BYTES: Final = 300


class RecentAnswers:
    """The recent answers of one access point, in the rows of their topics."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._bytes = 0
        self._until_s = 0.0

    def __len__(self) -> int:
        """Returns how many have been kept since the last time that all were forgotten."""
        return len(self._rows)

    def keep(self, row: Row, answer: RecentAnswer, now_s: float) -> None:
        """Keeps what was answered at `now_s` for the topic of `row`, which has come live since then, as far as there is room."""
        if row.burst is not None or row.is_held:
            return  # some of what stands before the answer has not come to everybody yet
        size = ANSWER_BYTES + sum(map(len, answer.bodies or ()))
        if self._bytes + size > MOST_BYTES:
            self.forget()
        if not self._rows:
            self._until_s = now_s + KEPT_S
        self._bytes += size
        self._rows.append(row)
        row.answer = answer

    def forget(self) -> None:
        """Forgets all of them: what came may not have been all, or comes by another way from now on."""
        for row in self._rows:
            row.answer = None
        self._rows, self._bytes = [], 0

    def tick(self, now_s: float) -> None:
        """Forgets what is old at `now_s`."""
        if self._rows and now_s >= self._until_s:
            self.forget()

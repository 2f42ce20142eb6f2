"""The speaker decides which publications leave now, on which outlet, and under which number and time."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from .delivery_ledger import DeliveryLedger
from .outlets import Outlets, PublisherOutlet
from .plan import GeneratorPlan
from .stamp import payload

TCP_BATCH: Final = 32


class Speaker:
    """The publications of one run.

    - `plan`: how to publish.
    - `ledger`: numbers each publication.
    - `outlets`: take them.
    - `spoken`: gives their topics.
    - `star`: the topic of bursts.
    - `start_us`: when the run began.
    """

    def __init__(
        self, plan: GeneratorPlan, ledger: DeliveryLedger, outlets: Outlets, spoken: Iterator[int], star: int, start_us: int
    ) -> None:
        self.bursts: list[tuple[int, int]] = []
        self._plan, self._ledger, self._outlets, self._spoken, self._star, self._start_us = plan, ledger, outlets, spoken, star, start_us
        # HTTP batches are always full. A stream has no batches, only writes of a sensible size.
        is_stream = plan.publishing in ("tcp", "link")
        self._most = TCP_BATCH if is_stream else plan.batch
        self._least = 1 if is_stream else plan.batch
        self._bursts_due: deque[int] = deque()

    def burst(self, now_us: int) -> None:
        """Publishes one event on the star's topic as soon as an outlet is free."""
        self._bursts_due.append(now_us)

    def pump(self, now_us: int) -> None:
        """Publishes what may go now."""
        free = self._outlets.free
        while self._bursts_due and free:
            at_us = self._bursts_due.popleft()
            self.bursts.append((self._ledger.published, at_us))
            self._send(free.popleft(), [self._star], [at_us])
        if self._plan.rate:
            self._by_rate(now_us)
        else:
            self._by_window(now_us)

    def _by_window(self, now_us: int) -> None:
        """Publishes in a closed loop: at most `window` publications wait for deliveries."""
        free, ledger, window = self._outlets.free, self._ledger, self._plan.window
        while free and (room := window - ledger.in_flight) >= self._least:
            size = min(self._most, room)
            self._send(free.popleft(), [next(self._spoken) for _ in range(size)], [now_us] * size)

    def _by_rate(self, now_us: int) -> None:
        """Publishes in an open loop. Each publication bears the time at which it was due, so waiting to be sent is latency too."""
        free, rate = self._outlets.free, self._plan.rate
        sent = self._ledger.published - len(self.bursts)
        due = int((now_us - self._start_us) * rate / 1e6)
        while sent < due and free:
            numbers = range(sent, min(sent + self._most, due))
            self._send(free.popleft(), [next(self._spoken) for _ in numbers], [self._start_us + int(n * 1e6 / rate) for n in numbers])
            sent = numbers.stop

    def _send(self, outlet: PublisherOutlet, topics: list[int], due_us: list[int]) -> None:
        publish = self._ledger.publish
        outlet.send(topics, [payload(at_us, publish(topic)) for topic, at_us in zip(topics, due_us, strict=True)])

"""The oracle of the second act: what it must bring to whom, and a ledger of what it did bring.

It knows only who follows, and who was there. Rule: this file imports nothing of the engine, and nothing of ours that the engine imports.
It is the second opinion.

Every item is expected once on every device of every follower, at once or when the device comes back. A mail and a push for it are
expected once at each follower who was offline when it came out and can be reached so. Nobody else may get one, except that a push comes
to a phone that is online, too.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf

# A user, and a name for one of their devices.
DeviceKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSummary:
    """The outcome of the second act.

    - `followers`, `awake`, `asleep`: how many users there are.
    - `items`: how many items came out.
    - `rows`: how many rows must be stored.
    - `shown`: `live` + `pulled` + `repaired`, counted by device and item.
    - `live`: shown on a device that was there when the item came out.
    - `pulled`: shown on a device that came later.
    - `repaired`: shown on a device whose live copy was taken off the wire, or only after the next item had come out.
    - `mailed`, `pushed`: mails and pushes.
    - `read_elsewhere`: devices that heard of what their user read on another one.
    - `live_ms`: the median and the 99th percentile, from just before the artist's job was started to the live copy; None without one.

    These must be 0:

    - `lost`, `shown_twice`: by device and item.
    - `misrouted`: items and mails that are for nobody.
    - `mails_to_awake`: mails to followers who were online.
    - `mails_wrong`, `pushes_wrong`: missing, double, or not due.
    - `unread_wrong`, `read_unheard`: devices.
    """

    followers: int
    awake: int
    asleep: int
    items: int
    rows: int
    shown: int
    live: int
    pulled: int
    repaired: int
    mailed: int
    pushed: int
    read_elsewhere: int
    live_ms: tuple[float, float] | None
    lost: int
    shown_twice: int
    misrouted: int
    mails_to_awake: int
    mails_wrong: int
    pushes_wrong: int
    unread_wrong: int
    read_unheard: int

    @property
    def is_good(self) -> bool:
        """Whether everything that must be 0 is 0."""
        wrong = (self.lost, self.shown_twice, self.misrouted, self.mails_to_awake, self.mails_wrong, self.pushes_wrong)
        return not any((*wrong, self.unread_wrong, self.read_unheard))


class ReleaseLedger:
    """A ledger of what came out and what was seen of it, which judges it. Times are seconds of one monotonic clock.

    `followers` are all who follow, `addresses` those of them who can be mailed, `phones` those who can be pushed.
    """

    def __init__(self, followers: Sequence[str], addresses: Collection[str], phones: Collection[str]) -> None:
        self._followers, self._addresses, self._phones = frozenset(followers), frozenset(addresses), frozenset(phones)
        self._awake: dict[str, frozenset[str]] = {}
        self._on_phone: dict[str, frozenset[str]] = {}
        self._released_s: dict[str, float] = {}
        self._there_s: dict[DeviceKey, float] = {}
        self._shown: Counter[tuple[DeviceKey, str]] = Counter()
        self._shown_s: dict[tuple[DeviceKey, str], float] = {}
        self._robbed: set[DeviceKey] = set()
        self._mails: Counter[tuple[str, str]] = Counter()
        self._pushes: Counter[tuple[str, str]] = Counter()
        self._read: dict[str, int] = {}
        self._unread: dict[DeviceKey, int] = {}
        self._heard: dict[DeviceKey, bool] = {}

    def released(self, item: str, awake: Collection[str], on_phone: Collection[str], at_s: float) -> None:
        """Takes note that `item` comes out at `at_s`, while `awake` are online, and `on_phone` of them with their phones."""
        self._awake[item], self._on_phone[item], self._released_s[item] = frozenset(awake), frozenset(on_phone), at_s

    def there(self, device: DeviceKey, at_s: float) -> None:
        """Takes note that `device` has connected at `at_s`, and stays."""
        self._there_s[device] = at_s

    def robbed(self, device: DeviceKey) -> None:
        """Takes note that the live copy of an item was taken off the wire on its way to `device`."""
        self._robbed.add(device)

    def shown(self, device: DeviceKey, item: str, at_s: float) -> None:
        """Takes note that `device` showed `item` at `at_s`, and counts whether that was right."""
        self._shown[device, item] += 1
        self._shown_s.setdefault((device, item), at_s)

    def mailed(self, user: str, item: str) -> None:
        """Takes note that a mail about `item` arrived at the address of `user`."""
        self._mails[user, item] += 1

    def pushed(self, user: str, item: str) -> None:
        """Takes note that a push about `item` arrived at the phone of `user`."""
        self._pushes[user, item] += 1

    def read(self, user: str) -> None:
        """Takes note that `user` read everything that has come out so far."""
        self._read[user] = len(self._released_s)

    def heard(self, device: DeviceKey, unread: int) -> None:
        """Takes note how many items `device` shows as unread, after its user read everything on another one."""
        self._heard[device] = unread == 0

    def told(self, device: DeviceKey, unread: int) -> None:
        """Takes note how many items `device` shows as unread in the end."""
        self._unread[device] = unread

    def missing(self) -> Iterator[tuple[str, str, str]]:
        """Yields (user, device, item) of what was not shown."""
        for device in self._there_s:
            for item in self._released_s:
                if not self._shown[device, item]:
                    yield *device, item

    def outstanding(self, device: DeviceKey) -> bool:
        """Returns whether `device` has yet to show something that has come out."""
        return any(not self._shown[device, item] for item in self._released_s)

    def mails_due(self) -> set[tuple[str, str]]:
        """Returns (user, item) of each mail that must come."""
        return {(user, item) for item, awake in self._awake.items() for user in (self._addresses & self._followers) - awake}

    def pushes_due(self) -> set[tuple[str, str]]:
        """Returns (user, item) of each push that must come. Users with the phone in their hand get it, too."""
        phones = self._phones & self._followers
        return {(user, item) for item, awake in self._awake.items() for user in (phones - awake) | (phones & self._on_phone[item])}

    def is_post_there(self) -> bool:
        """Returns whether every mail and every push that must come has come."""
        return self.mails_due() <= self._mails.keys() and self.pushes_due() <= self._pushes.keys()

    def unread_due(self, user: str) -> int:
        """Returns how many items `user` has not read."""
        return len(self._released_s) - self._read.get(user, 0)

    def summary(self) -> ReleaseSummary:
        """Returns the outcome so far; what has not come yet counts as lost."""
        awake = next(iter(self._awake.values()), frozenset())
        ways = Counter(self._way(device, item) for device, item in self._shown if self._is_due(device, item))
        items = len(self._released_s)
        return ReleaseSummary(
            followers=len(self._followers),
            awake=len(awake),
            asleep=len(self._followers - awake),
            items=items,
            rows=len(self._followers) * items,
            shown=ways.total(),
            live=ways["live"],
            pulled=ways["pulled"],
            repaired=ways["repaired"],
            mailed=self._mails.total(),
            pushed=self._pushes.total(),
            read_elsewhere=sum(self._heard.values()),
            live_ms=self._live_ms(),
            lost=sum(1 for _ in self.missing()) + items * len(self._followers - {user for user, _ in self._there_s}),
            shown_twice=sum(times - 1 for times in self._shown.values()),
            misrouted=sum(1 for device, item in self._shown if not self._is_due(device, item)) + self._stray_mails(),
            mails_to_awake=sum(times for (user, item), times in self._mails.items() if user in self._awake.get(item, ())),
            mails_wrong=_differences(self._mails, self.mails_due()),
            pushes_wrong=_differences(self._pushes, self.pushes_due()),
            unread_wrong=sum(self._unread.get(device) != self.unread_due(device[0]) for device in self._there_s),
            read_unheard=sum(not heard for heard in self._heard.values()),
        )

    def _is_due(self, device: DeviceKey, item: str) -> bool:
        return device in self._there_s and device[0] in self._followers and item in self._released_s

    def _stray_mails(self) -> int:
        return sum(times for (user, item), times in self._mails.items() if user not in self._followers or item not in self._released_s)

    def _way(self, device: DeviceKey, item: str) -> str:
        released_s = self._released_s[item]
        if self._there_s[device] > released_s:
            return "pulled"
        next_s = min((at_s for at_s in self._released_s.values() if at_s > released_s), default=inf)
        return "repaired" if device in self._robbed or self._shown_s[device, item] >= next_s else "live"

    def _live_ms(self) -> tuple[float, float] | None:
        live = [pair for pair in self._shown if self._is_due(*pair) and self._way(*pair) == "live"]
        took_ms = sorted((self._shown_s[pair] - self._released_s[pair[1]]) * 1000 for pair in live)
        return (took_ms[ceil(0.5 * len(took_ms)) - 1], took_ms[ceil(0.99 * len(took_ms)) - 1]) if took_ms else None


def _differences(found: Counter[tuple[str, str]], due: set[tuple[str, str]]) -> int:
    """Returns how many of `due` are missing, came again, or were not due."""
    return sum(abs(found[each] - (each in due)) for each in found.keys() | due)

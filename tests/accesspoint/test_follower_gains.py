"""accesspoint.follower_gains: how many sessions follow a topic is told when it has changed, and not before."""

from hypothesis import given
from hypothesis import strategies as st

from accesspoint.follower_gains import FollowerGains
from accesspoint.hub import Hub
from accesspoint.row import Member
from infra.kernel.gains import gain_of
from infra.kernel.topics import user_topic

ANN, BEN = user_topic("ann"), user_topic("ben")


class _Place:
    """A hub, its members and the gains that were told of its topics."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.gains = FollowerGains(self.hub)
        self.members = [Member() for _ in range(40)]
        self.told: dict[bytes, int] = {}

    def follow(self, number: int) -> None:
        for handle, topic in self.hub.subscribe_all(self.members[number], [ANN]):
            self.told[topic] = self.gains.of([handle])[0]
        self.gains.touch([ANN])

    def leave(self, number: int) -> None:
        self.gains.touch([ANN])
        for row in self.hub.leave(self.members[number]):
            del self.told[row.topic]
            self.hub.release(row.handle, row.topic)

    def tick(self) -> int:
        changed = self.gains.changed()
        for handle, topic in changed:
            self.told[topic] = self.gains.of([handle])[0]
        return len(changed)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 39)), max_size=120))
def test_what_is_told_is_near_the_number_of_sessions(steps: list[tuple[bool, int]]) -> None:
    """DPS-20: also when the number of a row has been another topic's."""
    place, followers = _Place(), set[int]()
    for comes, number in steps:
        place.follow(number) if comes else place.leave(number)
        followers = followers | {number} if comes else followers - {number}
        place.tick()
        if followers:
            assert 0.75 * (1 << place.told[ANN] - 1) <= len(followers) < 1.25 * (1 << place.told[ANN])
        else:
            assert place.told == {}


def test_many_who_come_one_by_one_are_told_a_few_times_and_nothing_is_told_where_nothing_has_changed() -> None:
    """DPS-20: once for each power of two. A topic is told with its first session, which says nothing new then."""
    place = _Place()
    place.follow(0)
    assert (place.told, place.tick()) == ({ANN: 1}, 0)
    told = 0
    for number in range(1, 40):
        place.follow(number)
        told += place.tick()
    assert told <= gain_of(40)
    assert (place.told[ANN], place.tick()) == (gain_of(39), 0)
    place.gains.touch([BEN])
    assert place.tick() == 0

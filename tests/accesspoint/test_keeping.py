"""What brokers keep of the past, as they have told."""

from accesspoint.keeping import Keeping
from infra.kernel.frames import Keeps
from infra.kernel.topics import inbox_topic, user_topic


def test_what_was_told_last_holds() -> None:
    keeping = Keeping()
    assert (keeping.kinds, keeping.has(user_topic("dan"))) == ({}, False)
    keeping.learn(Keeps({"user": ("latest", 120.0)}))
    assert keeping.kinds == {"user": {"keep": "latest", "seconds": 120.0}}
    assert (keeping.has(user_topic("dan")), keeping.has(inbox_topic("dan"))) == (True, False)
    assert keeping.others([user_topic("dan"), inbox_topic("dan")]) == [inbox_topic("dan")]
    keeping.learn(Keeps({"user": ("latest", 120.0), "of a newer version": ("all", 1.0)}))
    assert keeping.has(user_topic("dan"))
    keeping.learn(Keeps({}))
    assert keeping.kinds == {}

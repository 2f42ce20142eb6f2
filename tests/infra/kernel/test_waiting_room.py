"""The room for strangers: bounded in all and by address."""

from infra.kernel.waiting_room import WaitingRoom


def test_there_is_room_for_so_many_in_all_and_of_one_address() -> None:
    room = WaitingRoom(3, 2)
    assert [room.enter("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert [room.enter("10.0.0.2") for _ in range(2)] == [True, False]
    assert len(room) == 3


def test_one_who_leaves_makes_room_and_leaves_nothing_behind() -> None:
    room = WaitingRoom(1, 1)
    for n in range(1000):
        assert room.enter(f"10.0.0.{n}")
        assert not room.enter("10.0.1.1")
        room.leave(f"10.0.0.{n}")
    assert len(room) == 0


def test_those_in_this_process_are_not_counted() -> None:
    room = WaitingRoom(1, 1)
    assert all(room.enter("") for _ in range(10))
    room.leave("")
    assert room.enter("10.0.0.1")

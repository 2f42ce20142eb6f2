"""Things by the second in which they are due, compared with a plain list of them."""

from hypothesis import given
from hypothesis import strategies as st

from accesspoint.due_seconds import DueSeconds

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from("abcdefgh"), st.integers(0, 30)),
        st.tuples(st.just("remove"), st.sampled_from("abcdefgh"), st.integers(0, 30)),
        st.tuples(st.just("take"), st.just(""), st.integers(0, 30)),
    ),
    max_size=60,
)


@given(STEPS, st.integers(1, 4))
def test_each_thing_is_due_once_in_its_second_and_not_if_it_was_removed(steps: list[tuple[str, str, int]], most: int) -> None:
    due, model = DueSeconds[str](), dict[str, int]()
    for step, thing, second in steps:
        if step == "add":
            due.remove(thing, model.get(thing, -1))
            due.add(thing, second)
            model[thing] = second
        elif step == "remove":
            due.remove(thing, second)
            if model.get(thing) == second:
                del model[thing]
        else:
            taken = due.take(second, most)
            late = sorted(at for at in model.values() if at <= second)
            assert sorted(model.pop(each) for each in taken) == late[:most]


def test_nothing_stays_of_what_comes_and_goes() -> None:
    due = DueSeconds[str]()
    for n in range(10_000):
        due.add(f"t{n}", 1_000_000 + n)
        due.remove(f"t{n}", 1_000_000 + n)
    assert len(due) <= 100

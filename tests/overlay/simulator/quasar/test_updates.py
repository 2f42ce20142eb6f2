"""What filters hold, beside exact sets of who is how many steps away."""

from overlay.protocol.bloom import contains
from overlay.simulator.compiled import numbers
from overlay.simulator.quasar.overlay import QuasarOverlay
from overlay.simulator.quasar.state import QuasarSettings
from tests.support.even_workload import even_workload

NODES, TOPICS = 80, 6


def overlay(settings: QuasarSettings, *, seed: int = 2, topics: int = TOPICS) -> QuasarOverlay:
    return QuasarOverlay(even_workload(nodes=NODES, topics=topics, each=1, seed=seed), seed, settings)


def held(system: QuasarOverlay, node: int, level: int) -> set[int]:
    """Returns the ids, nodes and then topics, that the filter of `node` at `level` seems to hold."""
    state, rules = system.state, system.rules
    first = node * rules.set_words + level * rules.words
    return {each for each in range(NODES + TOPICS) if contains(state.filters, first, state.places, each * rules.hashes, rules.hashes)}


def away(system: QuasarOverlay, node: int, steps: int) -> set[int]:
    """Returns who and what is `steps` steps from `node`, steps back included, by walking."""
    offsets, ends = numbers(system.graph.offsets), numbers(system.graph.ends)
    here = {node}
    for _ in range(steps):
        here = {end for each in here for end in ends[offsets[each] : offsets[each + 1]]}
    topics = {NODES + topic for topic in range(TOPICS) if here & set(system.members(topic))}
    return here | topics


def test_a_level_holds_what_is_so_many_steps_away() -> None:
    """P2P-36: exactly with exact sets; with Bloom filters nothing is missing."""
    for exact in (True, False):
        system = overlay(QuasarSettings(exact=exact))
        for _ in range(4):
            system.cycle()
        for node in range(0, NODES, 7):
            for level in range(4):
                found, expected = held(system, node, level), away(system, node, level)
                assert found == expected if exact else found >= expected, (exact, node, level)


def test_nobody_is_told_what_they_have_told_themselves_if_filters_are_split() -> None:
    """Ruling Q8: with two nodes on one link, what comes back over it would be the own id."""
    system = overlay(QuasarSettings(exact=True, splits=True, depth=2))
    for _ in range(4):
        system.cycle()
    state, rules = system.state, system.rules
    offsets, back = numbers(state.offsets), numbers(state.back)
    for node in range(NODES):
        for link in range(offsets[node], offsets[node + 1]):
            to_me = state.wells[link]
            # What the far end has heard over this very link is this node's own level 0.
            neighbours_of_it = {int(state.ends[each]) for each in range(offsets[state.ends[link]], offsets[state.ends[link] + 1])}
            one_step = {each for each in range(NODES) if contains(state.filters, to_me + rules.words, state.places, each, 1)}
            assert one_step == neighbours_of_it - {node}
            assert back[back[link]] == link


def test_what_has_left_is_forgotten_in_time() -> None:
    """P2P-37: within (K + 1) T."""
    settings = QuasarSettings(exact=True)
    system = overlay(settings)
    for _ in range(5):
        system.cycle()
    system.leave([5])
    cycles = 0
    while any(5 in held(system, node, level) for node in range(NODES) if node != 5 for level in range(4)):
        system.cycle()
        cycles += 1
    assert 1 <= cycles <= (settings.depth + 1) * settings.fresh


def test_a_node_has_as_much_state_for_few_groups_as_for_many() -> None:
    """P2P-45: 10 and 10,000 groups."""
    few, many = overlay(QuasarSettings(), topics=10), overlay(QuasarSettings(), topics=10_000)
    assert few.filter_bytes_of_a_node == many.filter_bytes_of_a_node
    assert len(few.state.filters) == len(many.state.filters)


def test_filters_take_no_more_than_was_published() -> None:
    """P2P-42: 22 kB for ten neighbours."""
    assert overlay(QuasarSettings()).filter_bytes_of_a_node == 11 * 4 * 512 <= 22 * 1024

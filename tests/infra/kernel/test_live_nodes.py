"""What is about one user goes to one of the nodes that are up."""

from infra.kernel.live_nodes import LiveNodes

USERS = [f"u{n}" for n in range(60)]


def test_without_a_node_nobody_is_found() -> None:
    nodes: LiveNodes[str] = LiveNodes()
    nodes.down("p1")
    assert (nodes.of("ann"), len(nodes)) == (None, 0)


def test_users_are_spread_and_only_those_of_a_lost_node_move() -> None:
    nodes: LiveNodes[str] = LiveNodes()
    for address in ("p1", "p2", "p3"):
        nodes.up(address, f"link to {address}")
    before = {user: node for user in USERS if (node := nodes.of(user))}
    assert {node.link for node in before.values()} == {"link to p1", "link to p2", "link to p3"}
    nodes.down("p2")
    after = {user: node for user in USERS if (node := nodes.of(user))}
    assert {user for user in USERS if before[user] != after[user]} == {user for user in USERS if before[user].address == "p2"}


def test_a_node_that_comes_back_is_reached_by_its_new_link() -> None:
    nodes: LiveNodes[str] = LiveNodes()
    nodes.up("p1", "old")
    nodes.up("p1", "new")
    assert nodes.of("ann") == ("p1", "new")
    assert len(nodes) == 1

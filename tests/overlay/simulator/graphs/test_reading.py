"""Graphs that are read: traces, published sets, edge lists, and those that come with the project."""

import gzip
from pathlib import Path

import pytest

from analytics.errors import TraceError
from analytics.importers.formats import FORMATS
from analytics.importers.importing import import_trace
from overlay.simulator.errors import OverlayError
from overlay.simulator.graphs.reading import CARRIED, carried, read_graph

EDGES = "# who follows whom\n1 2\n2 3\n3 1\n1 3\n"


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    """A list of four edges among three users."""
    path = tmp_path / "edges.txt"
    path.write_text(EDGES)
    return path


@pytest.mark.parametrize(
    ("name", "users", "subscribers", "pairs", "largest"),
    [
        ("facebook", 4039, 4039, 176_468, 1045),
        ("wiki-vote", 7115, 6110, 103_689, 457),
        ("ciao", 2342, 2190, 57_544, 95),
        ("lastfm", 1892, 1892, 25_434, 119),
    ],
)
def test_real_graphs_that_come_along_have_their_published_sizes(name: str, users: int, subscribers: int, pairs: int, largest: int) -> None:
    graph = carried(name)
    assert (graph.users, graph.pairs, graph.subscribers_of().max()) == (users, pairs, largest)
    assert graph.workload().nodes == subscribers


def test_a_graph_that_does_not_come_along_is_refused_with_those_that_do() -> None:
    with pytest.raises(OverlayError, match="no graph 'myspace'; say facebook, wiki-vote, ciao, lastfm"):
        carried("myspace")


def test_a_graph_that_is_gone_is_missed_by_its_path(tmp_path: Path) -> None:
    for name in CARRIED:
        with pytest.raises(OverlayError, match=f"{tmp_path}.*: is missing"):
            carried(name, tmp_path)


def test_an_edge_list_is_read_plain_and_packed(edges: Path) -> None:
    packed = edges.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(EDGES.encode()))
    for path in (edges, packed):
        graph = read_graph(path)
        assert (graph.users, graph.pairs, graph.is_social) == (3, 4, True)
        assert graph.topics_of().tolist() == [2, 1, 1]


def test_undirected_edges_go_both_ways(edges: Path) -> None:
    assert read_graph(edges, undirected=True).pairs == 6


def test_a_trace_is_read(edges: Path, tmp_path: Path) -> None:
    import_trace(FORMATS["edges"], edges, tmp_path / "trace")
    graph = read_graph(tmp_path / "trace")
    assert (graph.users, graph.pairs) == (3, 4)
    with pytest.raises(TraceError, match="nobody subscribes to a topic of artist"):
        read_graph(tmp_path / "trace", service="artist")


def test_a_trace_with_a_log_of_subscriptions_alone_is_read(tmp_path: Path) -> None:
    source = tmp_path / "user_contacts-timestamps.dat"
    source.write_text("userID\tcontactID\ttimestamp\n1\t2\t1000\n2\t1\t2000\n1\t3\t3000\n")
    import_trace(FORMATS["delicious"], source, tmp_path / "trace")
    for table in (tmp_path / "trace" / "subscriptions").glob("*"):
        table.unlink()
    manifest = tmp_path / "trace" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"subscriptions"', '"sessions"'))
    assert read_graph(tmp_path / "trace").pairs == 3


def test_topics_of_cascades_are_no_users(tmp_path: Path) -> None:
    source = tmp_path / "events.tsv"
    source.write_text("item user time\n1 1 5\n1 2 6\n2 2 7\n")
    graph = read_graph(source, "cascades")
    assert (graph.users, graph.topics, graph.is_social) == (2, 2, False)


def test_a_broken_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("1 2\n2 x\n")
    with pytest.raises(TraceError, match=r"edges.txt, line 2: .*mend or remove the line"):
        read_graph(path)


def test_a_list_without_pairs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("7 7\n")
    with pytest.raises(OverlayError, match=r"edges.txt: no subscription is left .*dropped: 1 rows of a user who follows the same user"):
        read_graph(path)


def test_a_data_set_without_followers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tweets.tsv"
    path.write_text("network unix_time node is_retweet_of_node1\n1 5 1 0\n")
    with pytest.raises(OverlayError, match="twitter-stars says nothing about who follows whom"):
        read_graph(path, "twitter-stars")


def test_a_folder_that_is_no_trace_asks_for_its_form(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="no manifest; if it holds a published data set, say its form: lastfm, ciao"):
        read_graph(tmp_path)


def test_what_makes_no_sense_is_refused(edges: Path, tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="no such file or folder"):
        read_graph(tmp_path / "nothing")
    with pytest.raises(OverlayError, match="there is no form 'myspace'"):
        read_graph(edges, "myspace")
    with pytest.raises(OverlayError, match="only edges can be undirected"):
        read_graph(edges, "ciao", undirected=True)

"""The traces that published forms become, on a few rows of each, and on the samples of the project."""

import gzip
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from analytics.errors import TraceError
from analytics.figures import FIGURES
from analytics.importers.edge_columns import EdgeOptions
from analytics.importers.formats import FORMATS
from analytics.importers.importing import import_trace
from analytics.measures import MEASURES
from analytics.trace import Trace
from analytics.validation import validate
from infra.kernel.manifest import Manifest
from infra.kernel.trace import SERVICES

DATA = Path(__file__).resolve().parents[3] / "examples" / "data"
DAY_MS = 86_400_000

FILES = {
    "lastfm": {
        "user_friends.dat": "userID\tfriendID\r\n1\t2\r\n2\t1\r\n1\t3\r\n3\t1\r\n",
        "user_artists.dat": "userID\tartistID\tweight\r\n1\t51\t13\r\n1\t52\t7\r\n3\t51\t5\r\n",
    },
    "ciao": {
        "trust.tsv": "truster\ttrusted\n1\t2\n3\t2\n",
        "rating_with_timestamp.tsv": "user\tproduct\tcategory\trating\thelpfulness\tunix_time\n2\t9\t1\t5\t3\t961225200\n"
        "2\t8\t1\t4\t3\t959842800\n",
    },
    "higgs": {"higgs-activity_time.txt": "5 6 1341100972 MT\n5 7 1341100972 MT\n5 6 1341187400 RT\n8 8 1341187401 RE\n"},
    "twitter-stars": {
        "tweets.tsv": "network\tunix_time\tnode\tis_retweet_of_node1\n0\t1458807126\t28\t1\n0\t1458807110\t1\t0\n1\t1458807200\t28\t0\n"
    },
    "collegemsg": {"CollegeMsg.txt": "1 2 1082040961\n1 2 1082040970\n2 1 1082040980\n"},
    "email-eu": {"email-Eu-core-daily.txt": "0 1 2\n0 1 3\n4 1 2"},
    "cascades": {"events.tsv": "item\tuser\ttime\n0\t5\t1211877205\n0\t6\t1211877300\n1\t5\t1211877210\n0\t5\t1211877400\n"},
    "delicious": {"user_contacts-timestamps.dat": "userID\tcontactID\ttimestamp\r\n8\t9\t1286151259000\r\n9\t8\t1286151258000\r\n"},
    "stackexchange": {"edges.tsv": "src\tdst\n1\t2\n", "events.tsv": "item\tuser\ttime\n0\t2\t50\n1\t2\t50\n0\t2\t60\n"},
    "edges": {"graph.txt": "# a graph\n1 2\n1 2\n2 2\n2 3\n"},
}


def source(tmp_path: Path, name: str) -> Path:
    """Returns the path of a form's files: the file where there is one, else the folder."""
    folder = tmp_path / "published"
    folder.mkdir()
    for file, text in FILES[name].items():
        (folder / f"{file}.gz").write_bytes(gzip.compress(text.encode()))
    return next(folder.iterdir()) if len(FILES[name]) == 1 else folder


def imported(tmp_path: Path, name: str, asked: EdgeOptions | None = None) -> tuple[Manifest, dict[str, list[tuple[Any, ...]]]]:
    """Imports the files of the form `name` to a folder of `tmp_path`, as `asked`, and checks that the trace is valid.

    Returns the manifest, and the rows of each table without the columns service and site.
    """
    path = tmp_path / "trace"
    import_trace(FORMATS[name], source(tmp_path, name), path, asked=asked)
    trace = Trace.open(path)
    assert [str(defect) for defect in validate(trace).defects if defect.severity == "error"] == []
    return trace.manifest, {table: rows(path, table) for table in trace.manifest.tables}


def rows(path: Path, table: str) -> list[tuple[Any, ...]]:
    found = pq.read_table(path / table).drop_columns(["service", "site"])
    return [tuple(row.values()) for row in found.to_pylist()]


def test_lastfm_friends_follow_both_ways_and_plays_are_counts(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "lastfm")
    assert tables == {"subscriptions": [(1, 2), (1, 3), (2, 1), (3, 1)], "counts": [(1, 20), (3, 5)]}
    assert (manifest.start_ms, manifest.origin, manifest.name) == (None, "imported", "lastfm")
    assert manifest.limits["publications"] == "play counts have no times"


def test_ciao_trust_is_following_and_reviews_are_dated(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "ciao")
    assert tables["subscriptions"] == [(1, 2), (3, 2)]
    assert tables["publications"] == [(959842800000, 2, None), (961225200000, 2, None)]
    assert tables["counts"] == [(2, 2)]
    assert manifest.start_ms is not None
    assert manifest.end_ms is not None
    assert (manifest.start_ms % DAY_MS, manifest.end_ms - manifest.start_ms) == (0, 17 * DAY_MS)


def test_higgs_who_acts_on_somebody_follows_them_and_a_second_is_one_publication(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "higgs")
    assert tables["subscriptions"] == [(5, 6), (5, 7)]
    assert [(time, topic) for time, topic, _ in tables["publications"]] == [
        (1341100972000, 5),
        (1341187400000, 5),
        (1341187401000, 8),
    ]
    assert tables["counts"] == [(5, 2), (8, 1)]
    assert manifest.notes[-3:] == (
        "dropped: 1 rows of a user who follows the same user",
        "dropped: 1 further actions of a user on the same one",
        "dropped: 1 further rows of an actor in the same second",
    )


def test_twitter_stars_are_users_of_their_network_and_nobody_follows(tmp_path: Path) -> None:
    _, tables = imported(tmp_path, "twitter-stars")
    assert tables["publications"] == [(1458807110000, 1, "tweet"), (1458807126000, 28, "retweet"), (1458807200000, 1028, "tweet")]
    assert tables["counts"] == [(1, 1), (28, 1), (1028, 1)]
    assert "subscriptions" not in tables


def test_times_in_another_unit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tweets.tsv"
    path.write_text("network\tunix_time\tnode\tis_retweet_of_node1\n0\t1458807126000\t1\t0\n")
    with pytest.raises(TraceError, match="line 2: column unix_time: 1458807126000 is not below 253402300800"):
        import_trace(FORMATS["twitter-stars"], path, tmp_path / "trace")


def test_collegemsg_who_got_a_message_follows_its_sender(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "collegemsg")
    assert tables["subscriptions"] == [(1, 2), (2, 1)]
    assert [topic for _, topic, _ in tables["publications"]] == [1, 1, 2]
    assert manifest.time_zone == "America/Los_Angeles"
    assert (manifest.start_ms, manifest.end_ms) == (1082040961000, 1082040981000)


def test_email_contacts_follow_each_other_and_active_days_are_publications(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "email-eu")
    assert tables["subscriptions"] == [(1, 2), (1, 3), (2, 1), (3, 1)]
    assert [(time // DAY_MS, topic) for time, topic, _ in tables["publications"]] == [(0, 1), (0, 2), (0, 3), (4, 1), (4, 2)]
    assert (manifest.start_ms, manifest.end_ms) == (0, 5 * DAY_MS)


def test_cascades_items_are_topics_that_users_follow_from_the_first_time_on(tmp_path: Path) -> None:
    _, tables = imported(tmp_path, "cascades")
    assert tables["subscriptions"] == [(5, 0), (5, 1), (6, 0)]
    assert tables["subscription_log"] == [
        (1211877205000, 5, 0, "subscribe"),
        (1211877210000, 5, 1, "subscribe"),
        (1211877300000, 6, 0, "subscribe"),
    ]
    assert tables["counts"] == [(0, 3), (1, 1)]
    assert set(pq.read_table(tmp_path / "trace" / "subscriptions")["service"].to_pylist()) == {"playlist"}


def test_delicious_contacts_begin_at_their_times(tmp_path: Path) -> None:
    _, tables = imported(tmp_path, "delicious")
    assert tables == {
        "subscription_log": [(1286151258000, 9, 8, "subscribe"), (1286151259000, 8, 9, "subscribe")],
        "subscriptions": [(8, 9), (9, 8)],
    }


def test_stackexchange_a_post_with_two_tags_is_one_publication(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "stackexchange")
    assert tables["subscriptions"] == [(1, 2)]
    assert tables["publications"] == [(50_000, 2, None), (60_000, 2, None)]
    assert manifest.notes[-1] == "dropped: 1 further tags of the same post"


def test_edges_are_followed_as_written_or_both_ways(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "edges")
    assert tables == {"subscriptions": [(1, 2), (2, 3)]}
    assert manifest.notes[-2:] == ("dropped: 1 rows of a user who follows the same user", "dropped: 1 repeated pairs")
    assert manifest.name == "edges: graph"


def test_undirected_edges_hold_both_ways(tmp_path: Path) -> None:
    manifest, tables = imported(tmp_path, "edges", EdgeOptions(undirected=True))
    assert tables == {"subscriptions": [(1, 2), (2, 1), (2, 3), (3, 2)]}
    assert manifest.notes[-1] == "undirected: each edge is a subscription in both directions"


def test_the_lastfm_sample_has_the_published_numbers(tmp_path: Path) -> None:
    import_trace(FORMATS["lastfm"], DATA / "lastfm", tmp_path / "trace")
    pairs, counts = (pq.read_table(tmp_path / "trace" / table) for table in ("subscriptions", "counts"))
    assert (len(pairs), len(pairs["topic"].unique()), len(counts)) == (25_434, 1_892, 1_892)
    assert sum(counts["events"].to_pylist()) == 69_183_975
    assert notifications(tmp_path / "trace") == 1_298_104_563


def test_the_ciao_sample_has_the_published_numbers(tmp_path: Path) -> None:
    import_trace(FORMATS["ciao"], DATA / "ciao", tmp_path / "trace")
    pairs, said, counts = (pq.read_table(tmp_path / "trace" / table) for table in ("subscriptions", "publications", "counts"))
    assert (len(pairs), len(pairs["topic"].unique()), len(said), len(counts)) == (57_544, 2_325, 36_065, 2_248)
    assert notifications(tmp_path / "trace") == 1_136_887
    assert validate(Trace.open(tmp_path / "trace")).defects == ()


def notifications(path: Path) -> int:
    events = dict(rows(path, "counts"))
    return sum(events.get(topic, 0) for _, topic in rows(path, "subscriptions"))


@pytest.mark.parametrize("name", FORMATS)
def test_a_form_makes_every_table_of_a_figure_or_says_why_it_cannot(tmp_path: Path, name: str) -> None:
    """Limits name figures and measures that there are, and what they do not name has its tables."""
    manifest, tables = imported(tmp_path, name)
    known = {*FIGURES, *(key.replace("{service}", service) for key in MEASURES for service in SERVICES)}
    assert manifest.limits.keys() <= known
    assert [key for key in FORMATS[name].supported if not {*FIGURES[key].needs} <= tables.keys()] == []


def test_only_lists_without_direction_may_be_undirected(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="ciao: knows its columns and which way its rows go; --undirected, --src"):
        import_trace(FORMATS["ciao"], source(tmp_path, "ciao"), tmp_path / "trace", asked=EdgeOptions(undirected=True))


@pytest.mark.parametrize(("name", "text"), [("edges", "3 3\n"), ("delicious", "userID contactID timestamp\n3 3 5\n")])
def test_a_set_of_which_nothing_is_left_is_refused(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "all-dirt.txt"
    path.write_text(text)
    with pytest.raises(
        TraceError, match=r"nothing is left of its rows \(.*dropped: 1 rows of a user who follows the same user\); is this the right file"
    ):
        import_trace(FORMATS[name], path, tmp_path / "trace")
    assert not (tmp_path / "trace").exists()


def test_what_is_refused_leaves_no_folder(tmp_path: Path) -> None:
    path = source(tmp_path, "edges")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(TraceError, match="ends early; download it again"):
        import_trace(FORMATS["edges"], path, tmp_path / "trace")
    assert list(tmp_path.iterdir()) == [path.parent]


@pytest.mark.parametrize(
    ("path", "message"),
    [("nothing", "there is no such file or folder; it must be a file with two"), (".", "is a folder; name the file of the edges")],
)
def test_a_path_that_does_not_fit_is_refused_with_what_it_must_be(tmp_path: Path, path: str, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        import_trace(FORMATS["edges"], tmp_path / path, tmp_path / "trace")

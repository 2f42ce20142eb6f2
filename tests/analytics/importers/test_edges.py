"""Edge lists as people publish them: with headers, further columns, weights, commas."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.errors import TraceError
from analytics.importers.edge_columns import EdgeOptions, find_columns
from analytics.importers.edges import FORMAT, read_edges
from analytics.importers.importing import import_trace
from infra.kernel.manifest import Manifest

PLAIN = EdgeOptions()


def listed(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "list.txt"
    path.write_text(text)
    return path


def pairs(path: Path, asked: EdgeOptions = PLAIN) -> list[tuple[int, int]]:
    table = read_edges(path, asked).tables["subscriptions"]
    return list(zip(table["subscriber"].tolist(), table["topic"].tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n3 2\n",
        "1 2 5\n3 2 0.5\n",
        "1\t2\tsince 2009\n3\t2\t\n",
        "# FromNodeId ToNodeId\n1 2\n3 2\n",
        "user_id,friend_id\n1,2\n3,2\n",
        '"follower","followee","since"\n"1","2","2009-05-01"\n"3","2",""\n',
        "weight;target;source\n9;2;1\n9;2;3\n",
        "\n1 , 2\n\n3 , 2\n",
    ],
)
def test_headers_further_columns_and_delimiters_are_read_as_they_come(tmp_path: Path, text: str) -> None:
    assert pairs(listed(tmp_path, text)) == [(1, 2), (3, 2)]


def test_columns_are_chosen_by_number_or_name(tmp_path: Path) -> None:
    path = listed(tmp_path, "a b c\n1 2 3\n")
    assert pairs(path, EdgeOptions(src="3", dst="a")) == [(3, 1)]


def test_weights_are_added_up_to_the_events_of_a_topic(tmp_path: Path) -> None:
    path = listed(tmp_path, "1 2 5\n3 2 7\n2 1 4\n1 2 1\n")
    manifest, counts = counted(path, tmp_path, EdgeOptions(weight="3"))
    assert counts == {1: 4, 2: 13}
    assert "rate" not in manifest.limits
    assert manifest.limits["publications"] == "weights have no times"
    assert "weights: those of all rows that follow a topic, added up, are its events" in manifest.notes


def test_weights_of_undirected_rows_count_at_both_ends(tmp_path: Path) -> None:
    _, counts = counted(listed(tmp_path, "1 2 5\n3 2 7\n"), tmp_path, EdgeOptions(weight="3", undirected=True))
    assert counts == {1: 5, 2: 12, 3: 7}


def counted(path: Path, tmp_path: Path, asked: EdgeOptions) -> tuple[Manifest, dict[int, int]]:
    manifest = import_trace(FORMAT, path, tmp_path / "trace", asked=asked)
    table = pq.read_table(tmp_path / "trace" / "counts")
    return manifest, dict(zip(table["topic"].to_pylist(), table["events"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("text", "asked", "message"),
    [
        ("1 2\n", EdgeOptions(weight="3"), "there is no column '3' for weight: its columns are 1 to 2; it has no header line with names"),
        ("a,b\n1,2\n", EdgeOptions(src="fan"), "there is no column 'fan' for src: its columns are a, b, or 1 to 2"),
        ("1 2 3\n", EdgeOptions(weight="2"), "two columns are the same: src 1, dst 2, weight 2; name others"),
        ("1 2 3\n4 5 0.5\n", EdgeOptions(weight="3"), "line 2: column weight: '0.5' is no whole number; mend or remove the line"),
        ("1 2 3\n4 5\n", EdgeOptions(weight="3"), r"line 2: must have 3 columns or more \(src, dst, weight\), not 2; mend"),
        ("7\n", PLAIN, "there is no column '2' for dst: its columns are 1 to 1"),
        ("src dst\n", PLAIN, "has no rows; download it again"),
        ("# nothing\n", PLAIN, "has no rows; download it again"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(tmp_path: Path, text: str, asked: EdgeOptions, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        read_edges(listed(tmp_path, text), asked)


@given(st.permutations(["src", "dst", "weight", "since"]), st.sampled_from([",", ";", "\t", " "]))
def test_columns_are_found_wherever_they_stand(names: list[str], delimiter: str) -> None:
    found = find_columns(delimiter.join(names).encode(), EdgeOptions(weight="weight"))
    assert found.header
    assert {column: names[place] for column, place in found.places.items()} == {"src": "src", "dst": "dst", "weight": "weight"}

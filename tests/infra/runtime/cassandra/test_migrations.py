"""Scripts of CQL: each once for a keyspace, whichever of several nodes comes first."""

import asyncio

import pytest
from cassandra.protocol import SyntaxException
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError
from infra.runtime.cassandra.client import Cassandra
from infra.runtime.cassandra.migrations import statements
from segue.cassandra import Server
from tests.support.cassandra import fresh_keyspace

FIRST = (
    "001-inbox.cql",
    "CREATE TABLE IF NOT EXISTS inbox (id int PRIMARY KEY); -- one; two\nCREATE TABLE IF NOT EXISTS marks (id int PRIMARY KEY);",
)
SECOND = ("002-more.cql", "ALTER TABLE inbox ADD IF NOT EXISTS body text")


def test_semicolons_in_texts_names_and_comments_end_nothing() -> None:
    script = """
        -- a; comment
        CREATE TABLE a (k text PRIMARY KEY) WITH comment = 'it''s; fine'; // another; one
        /* and;
           a long one */ INSERT INTO "odd;name" (k) VALUES ($$;$$);;
    """
    assert statements(script) == [
        "CREATE TABLE a (k text PRIMARY KEY) WITH comment = 'it''s; fine'",
        'INSERT INTO "odd;name" (k) VALUES ($$;$$)',
    ]


@given(
    st.lists(st.text(st.sampled_from("ab '\n"), max_size=8).map(lambda text: f"SELECT '{text.replace(chr(39), chr(39) * 2)}'"), max_size=5)
)
@settings(max_examples=50)
def test_statements_are_found_again_in_the_script_made_of_them(parts: list[str]) -> None:
    assert statements(";\n".join(parts)) == parts


async def test_each_script_is_run_once_also_by_many_nodes_at_once(cassandra_server: Server) -> None:
    async with fresh_keyspace(cassandra_server) as store:
        nodes = [store, *[await Cassandra.open(store.options) for _ in range(2)]]
        await asyncio.gather(*(node.migrate("notification", [FIRST]) for node in nodes))
        await asyncio.gather(*(node.migrate("notification", [FIRST, SECOND]) for node in nodes))
        for node in nodes[1:]:
            await node.close()
        assert await store.execute("SELECT id, body FROM inbox") == []
        assert await store.execute("SELECT name FROM migrations WHERE module = ?", "notification") == [(FIRST[0],), (SECOND[0],)]
        assert await store.execute("SELECT module FROM migration_locks") == []


async def test_a_script_that_fails_is_begun_again_and_one_that_was_changed_is_refused(cassandra_store: Cassandra) -> None:
    broken = (FIRST[0], FIRST[1] + "CREATE NONSENSE")
    with pytest.raises(SyntaxException, match="NONSENSE"):
        await cassandra_store.migrate("notification", [broken])
    await cassandra_store.migrate("notification", [FIRST])
    with pytest.raises(ConfigError, match=r"notification/001-inbox.cql was changed"):
        await cassandra_store.migrate("notification", [broken])
    await cassandra_store.migrate("services", [FIRST])

"""The HTTP door of a broker."""

from tests.support.cluster import Cluster


async def test_a_door_is_where_it_says_counts_what_it_refuses_and_may_be_closed_twice() -> None:
    async with Cluster(sites=1) as c:
        door = c.of("broker")[0].door
        status, _ = await c.post({"topic": "hm://presence/user/dan/", "kind": "play", "payload": {}})
        async with c.http.get(f"http://{door.address}/v1/nothing") as answer:
            assert (status, answer.status) == (202, 404)
        assert sum(door.counters()["broker_http_refused_total"].values()) == 1
        await door.close()
        await door.close()

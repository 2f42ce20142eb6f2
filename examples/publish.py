"""Publishes what a user plays, as the presence service.

python examples/publish.py http://127.0.0.1:7710 TOKEN bob Björk
"""

import sys

import segue


async def publish(url: str, token: str, user: str, artists: list[str]) -> None:
    """Publishes one event for each of `artists`, all of which `user` plays. `token` is that of the presence service."""
    async with segue.Publisher(url, token) as publisher:
        plays = (segue.Publication(f"hm://presence/user/{user}/", "play", {"artist": artist}) for artist in artists)
        print(await publisher.publish_many(plays))


if __name__ == "__main__":
    segue.run(publish(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))

"""Prints what friends do, the moment they do it.

python examples/follow.py ws://127.0.0.1:7700 TOKEN bob eve
"""

import sys

import segue


async def follow(url: str, token: str, friends: list[str]) -> None:
    """Prints the events of `friends` until it is interrupted. `token` is that of the user who follows them."""
    async with segue.Client(url, token) as client:
        await client.subscribe(f"hm://presence/user/{friend}/" for friend in friends)
        print("following", *friends, file=sys.stderr)
        async for event in client:
            print(event.topic, event.kind, event.payload, flush=True)


if __name__ == "__main__":
    segue.run(follow(sys.argv[1], sys.argv[2], sys.argv[3:]))

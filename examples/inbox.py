"""Prints a user's notifications, each once, also those that came while this was not running.

python examples/inbox.py ws://127.0.0.1:7700 TOKEN alice.mark
"""

import sys

import segue


async def inbox(url: str, token: str, mark_path: str) -> None:
    """Prints notifications until it is interrupted; `token` is the user's. The next run goes on where the file at `mark_path` says."""
    async with segue.Client(url, token, client="inbox", mark_file=segue.MarkFile(mark_path)) as client:
        async for item in client.notifications():
            print(item.mark, item.topic, item.payload, f"({client.unread} unread)", flush=True)


if __name__ == "__main__":
    segue.run(inbox(sys.argv[1], sys.argv[2], sys.argv[3]))

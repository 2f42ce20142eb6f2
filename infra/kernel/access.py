"""Access: which user may see what is published on a topic, live or stored. Pure.

This is the one rule. Code that follows a topic for a user, or shows a user what is stored on a topic, asks here first.
"""

from .errors import Refused
from .topics import Kind, Topic, kind_of, user_of


def check_may_see(user: str, topic: Topic) -> None:
    """Raises `Refused("forbidden")` unless `user` may see what is published on `topic`.

    - An inbox: nobody may name one. Users get their own without asking.
    - The topic of a user's friends who have joined: this user alone.
    - Every other topic: everybody.
    """
    kind = kind_of(topic)
    if kind is Kind.INBOX:
        raise Refused("forbidden", "nobody names an inbox: what is stored for you comes without asking (segue listen --notifications)")
    if kind is Kind.SOCIAL and user_of(topic) != user:
        raise Refused("forbidden", f"which friends of {user_of(topic)} have joined is told to {user_of(topic)} alone")

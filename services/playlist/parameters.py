"""Parameters of requests: what their paths and queries say, checked."""

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, parse_topic
from infra.runtime.http.web import Request


def topic_of(request: Request) -> Topic:
    """Returns the topic of the playlist that the path names. Raises Refused: bad-topic, or forbidden if the token does not allow it."""
    topic = parse_topic(f"hm://playlist/user/{request.path['owner']}/playlist/{request.path['id']}/")
    request.check_granted(topic)
    return topic


def checked_name(name: str) -> str:
    """Returns a user's `name` that came from outside. Raises Refused("bad-topic")."""
    parse_topic(f"hm://presence/user/{name}/")
    return name


def number_of(request: Request, name: str) -> int | None:
    """Returns the number `name` of the query; None if it is not there. Raises Refused("bad-field")."""
    text = request.query.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refused("bad-field", f"{name} must be a number")
    return int(text)

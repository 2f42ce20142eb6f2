"""A post on the wall of a user who opted in (spec 1.2). Pure; `wall` puts it up."""

import msgspec


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """One post. `id` is the same whenever the post is repeated, so that a receiver can show it once. `ts_ms` is Unix time."""

    id: str
    user: str
    kind: str
    ts_ms: int
    payload: dict[str, object]

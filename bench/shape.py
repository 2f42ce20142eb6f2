"""Shape: the parameters of a workload. Its defaults are the social mix."""

import msgspec


class WorkloadShape(msgspec.Struct, frozen=True, kw_only=True):
    """Who is there. `mean`: topics per client; `fixed`: every client has exactly so many.

    `prefix` starts the names of the topics, so that two generators can speak about different ones.
    """

    clients: int = 2_000
    topics: int = 20_000
    mean: int = 60
    fixed: bool = False
    seed: int = 1
    prefix: str = "u"

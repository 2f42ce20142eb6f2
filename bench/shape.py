"""The shape of a workload: its parameters. The defaults are the social mix."""

import msgspec


class WorkloadShape(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a workload.

    - `clients`, `topics`: how many there are.
    - `mean`: topics for each client in the mean.
    - `fixed`: every client has exactly `mean` topics.
    - `seed`: of all random choices.
    - `prefix`: begins the names of the topics, so that two generators can publish on different ones.
    """

    clients: int = 2_000
    topics: int = 20_000
    mean: int = 60
    fixed: bool = False
    seed: int = 1
    prefix: str = "u"

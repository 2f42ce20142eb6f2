"""A cluster some nodes of which the test makes itself, with the clocks and parts that it wants."""

import random
from collections.abc import Callable, Mapping
from typing import Any

from infra.runtime.context import Context
from infra.runtime.logs import get_logger

from .cluster import Cluster


class MadeCluster(Cluster):
    """A cluster in which `make(options, context)` makes every node whose options are of the type `kind`.

    `world` has fields of their contexts, such as `now`; `cluster` is what `Cluster` takes.
    """

    def __init__(self, kind: type[Any], make: Callable[[Any, Context], Any], world: Mapping[str, Any], **cluster: Any) -> None:
        super().__init__(**cluster)
        self._kind, self._make, self._world = kind, make, world

    async def start(self, name: str) -> None:
        """See `Cluster.start`."""
        options: Any = self.options[name]
        if not isinstance(options, self._kind):
            await super().start(name)
            return
        log = get_logger("made", options.node, options.site)
        context = Context(
            network=self.network(name), log=log, rng=random.Random(self.rng.getrandbits(64)), **{"doors": self.opener, **self._world}
        )
        self.roles[name] = role = self._make(options, context)
        self.down.discard(name)
        await role.start()

    restart = start

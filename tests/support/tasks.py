"""Tasks of the generator that end as no task should. They are here because other processes must be able to import them."""

import os
from collections import Counter

from analytics.generator.tasks import Work


class Killed:
    """Its process ends as if the system had killed it."""

    def run(self, _: Work) -> Counter[str]:
        os._exit(9)


class Full:
    """Finds no room on the disk."""

    def run(self, _: Work) -> Counter[str]:
        raise OSError(28, "No space left on device")

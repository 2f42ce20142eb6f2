"""The setting of all benchmarks of one call: the cores, the folders, and where peers are looked for."""

import os
import shutil
from pathlib import Path

import msgspec


class BenchSetting(msgspec.Struct, frozen=True, kw_only=True):
    """The cores and folders of one call.

    - `server_core`, `generator_core`: the numbers of the cores; equal where there is only one.
    - `state`: the folder with the secret that tokens are signed with.
    - `scratch`: the folder for configuration files.
    - `peers_dirs`: where peers are looked for before PATH.
    """

    server_core: int
    generator_core: int
    state: Path
    scratch: Path
    peers_dirs: tuple[Path, ...] = ()

    def program(self, name: str) -> str | None:
        """Returns where the program `name` is: in the peers' directories or their `bin`, else on PATH; None if it is nowhere."""
        for directory in self.peers_dirs:
            for place in (directory, directory / "bin"):
                if found := shutil.which(name, path=str(place)):
                    return found
        return shutil.which(name)


def two_cores() -> tuple[int, int]:
    """Returns one core for the server and another one for the generator; the same one twice where there is only one."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[0], cores[min(1, len(cores) - 1)]

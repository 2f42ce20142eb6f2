"""The CQL scripts of a module, for `Cassandra.migrate`: the files under infra/deploy/cassandra/<module>, in the order of names."""

from importlib.resources import files


def scripts(module: str) -> list[tuple[str, str]]:
    """Returns name and text of each script of `module`. Raises FileNotFoundError for a module that has none."""
    folder = files("infra") / "deploy" / "cassandra" / module
    found = sorted((each for each in folder.iterdir() if each.name.endswith(".cql")), key=lambda each: each.name)
    return [(each.name.removesuffix(".cql"), each.read_text(encoding="utf-8")) for each in found]

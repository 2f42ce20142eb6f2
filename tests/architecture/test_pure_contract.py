"""The import contract of pure code names all the code that is pure."""

import ast
import re
from configparser import ConfigParser

from tests.architecture import sources as files
from tests.architecture.sources import ROOT

FOLDERS = ("accesspoint", "aggregator", "broker", "infra/kernel", "notification", "overlay", "rule_engine", "segue", "services")
CALLS_ITSELF_PURE = re.compile(r"\bPure[.:;]|; pure\.")


def modules() -> dict[str, str]:
    """Returns the docstring of each module of the roles, the kernel and what composes them, by its dotted name."""
    names = {each.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): each for each in files.sources(*FOLDERS)}
    return {name: ast.get_docstring(each.tree) or "" for name, each in names.items()}


def sources() -> list[str]:
    """Returns the modules and packages that the contract holds."""
    config = ConfigParser()
    config.read(ROOT / ".importlinter")
    return config["importlinter:contract:pure"]["source_modules"].split()


def test_every_core_and_every_module_that_calls_itself_pure_stands_in_the_contract() -> None:
    held = sources()
    pure = {name for name, words in modules().items() if name.endswith(".core") or CALLS_ITSELF_PURE.search(words)}
    assert len(pure) > 25
    assert {name for name in pure if not any(name == each or name.startswith(f"{each}.") for each in held)} == set()


def test_the_contract_names_modules_that_there_are() -> None:
    assert set(sources()) <= modules().keys() | {"infra.kernel"}

"""The house: our packages are ours and whole, every dependency is pinned, and the import contracts miss no package."""

import importlib
import re
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = [pattern.rstrip("*") for pattern in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]]


def normal(requirement: str) -> str:
    """Returns the name in a requirement, as package indexes compare names."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def pins(name: str) -> dict[str, str]:
    """Returns package -> version, from a file under requirements/ with the files that it includes."""
    found: dict[str, str] = {}
    for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines():
        included = line.removeprefix("-r ")
        if included != line:
            found |= pins(included)
        elif line and not line.startswith("#"):
            package, _, version = line.partition("==")
            found[normal(package)] = version
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_of_ours_comes_from_this_checkout_and_no_other_project_ships_its_name(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    assert Path(module.__file__).resolve() == ROOT / package / "__init__.py"
    assert set(packages_distributions().get(package, ())) <= {"segue"}


def test_every_folder_with_code_is_packaged() -> None:
    unpackaged = {"tests", "bench"}
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} - unpackaged == set(PACKAGES)
    modules = chain(*((ROOT / package).rglob("*.py") for package in PACKAGES))
    assert [str(module) for module in modules if not (module.parent / "__init__.py").exists()] == []


@pytest.mark.parametrize(("file", "declared"), [("runtime.txt", "dependencies"), ("dev.txt", "dev")])
def test_every_declared_dependency_is_pinned_to_one_version(file: str, declared: str) -> None:
    project = PROJECT["project"]
    names = project["dependencies"] if declared == "dependencies" else project["optional-dependencies"][declared]
    found = pins(file)
    assert {normal(name) for name in names} <= found.keys()
    assert all(re.fullmatch(r"[0-9][0-9A-Za-z.+!]*", version) for version in found.values())


def test_what_is_declared_has_no_version_so_that_pins_are_in_one_place() -> None:
    declared = [*PROJECT["project"]["dependencies"], *chain(*PROJECT["project"]["optional-dependencies"].values())]
    assert [name for name in declared if re.search(r"[=<>~@]", name.partition(";")[0])] == []


def test_the_import_contracts_cover_every_package_that_has_code() -> None:
    text = (ROOT / ".importlinter").read_text(encoding="utf-8")
    roots = re.search(r"root_packages =\n((?:    \w+\n)+)", text)
    assert roots
    has_code = {package for package in PACKAGES if list((ROOT / package).rglob("*.py")) != [ROOT / package / "__init__.py"]}
    assert has_code <= set(roots[1].split())

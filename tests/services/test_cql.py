"""The CQL scripts that travel with the package."""

import pytest

from services.cql import scripts


@pytest.mark.parametrize("module", ["follows", "outbox", "playlist"])
def test_scripts_come_in_the_order_of_their_numbers(module: str) -> None:
    names = [name for name, _ in scripts(module)]
    assert names[0] == f"0001_{module}"
    assert names == sorted(names)


def test_a_module_without_scripts_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        scripts("nothing")

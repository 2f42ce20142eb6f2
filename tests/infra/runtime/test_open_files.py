"""The limit of open files."""

import resource
from collections.abc import Iterator

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.open_files import allow_open_files, need_open_files


@pytest.fixture
def hard() -> Iterator[int]:
    """Yields the hard limit, after the soft one was made lower. The soft one is put back."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def soft_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def test_the_limit_is_raised_as_far_as_needed_and_never_lowered(hard: int) -> None:
    assert allow_open_files(100) == soft_limit() == 200
    assert allow_open_files(300) == soft_limit() == 300


def test_what_the_system_forbids_is_told(hard: int) -> None:
    assert allow_open_files(hard + 1) == soft_limit() == hard
    with pytest.raises(ConfigError, match=rf"{hard + 1} open files are needed and only {hard} allowed; ask for less, or as root: ulimit"):
        need_open_files(hard + 1)

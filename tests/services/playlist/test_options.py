"""Options of a playlist service that cannot work are refused with what to do about it."""

import msgspec
import pytest

from infra.kernel.errors import ConfigError
from services.playlist.options import PlaylistOptions

OPTIONS = PlaylistOptions(site="sto", node="playlist1", brokers={"b1": "127.0.0.1:7811"})


def test_the_least_that_must_be_said_is_enough() -> None:
    OPTIONS.check()


def test_a_service_without_brokers_is_told_how_they_are_named() -> None:
    with pytest.raises(ConfigError, match=r'playlist\.brokers is empty.*b1 = "127'):
        msgspec.structs.replace(OPTIONS, brokers={}).check()

"""infra.runtime.outgoing.options: what an operator may list."""

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.outgoing.options import OutgoingOptions


def test_what_is_no_network_is_refused() -> None:
    OutgoingOptions(private=["10.0.0.0/8", "127.0.0.1", "fd00::/8"]).check()
    with pytest.raises(ConfigError, match=r"outgoing\.private: 'localhost'"):
        OutgoingOptions(private=["localhost"]).check()

"""The shape of a cluster: what follows for the options of its roles."""

import pytest

from accesspoint.options import AccessPointOptions
from segue.cluster.shape import Shape


@pytest.mark.parametrize(("host", "allowed"), [("127.0.0.1", ["null"]), ("::1", ["null"]), ("0.0.0.0", []), ("10.1.2.3", [])])
def test_pages_that_are_files_may_connect_on_this_machine_only(host: str, allowed: list[str]) -> None:
    (access_point,) = (each for each in Shape(host=host).options() if isinstance(each, AccessPointOptions))
    assert access_point.allowed_origins == allowed

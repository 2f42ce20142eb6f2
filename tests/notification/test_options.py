"""Options of a notification node that cannot work are refused with what to do about it."""

from typing import Any

import msgspec
import pytest

from infra.kernel.errors import ConfigError
from notification.core import Patience
from notification.options import NotificationOptions

OPTIONS = NotificationOptions(site="sto", node="n1", brokers={"b1": "127.0.0.1:7811"})


def test_the_least_that_must_be_said_is_enough() -> None:
    OPTIONS.check()


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"brokers": {}}, r'notification\.brokers is empty.*b1 = "127'),
        ({"patience": Patience(email_s=91 * 86_400.0)}, "would have expired"),
        ({"retention_days": 7301.0}, "at most 7300"),
        ({"lease_s": 0.1}, r"0\.2 to 300 seconds"),
        ({"lease_s": 301.0}, r"0\.2 to 300 seconds"),
        ({"public_url": "notify.example.org"}, "a URL such as https://"),
    ],
)
def test_what_cannot_work_is_refused(changes: dict[str, Any], refusal: str) -> None:
    with pytest.raises(ConfigError, match=refusal):
        msgspec.structs.replace(OPTIONS, **changes).check()


def test_days_of_retention_are_seconds_for_the_store() -> None:
    assert msgspec.structs.replace(OPTIONS, retention_days=2.0).retention_s == 172_800

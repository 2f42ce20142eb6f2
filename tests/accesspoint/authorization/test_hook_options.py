"""What the table [accesspoint.hook] may say."""

from typing import Any

import pytest

from accesspoint.authorization.hook_options import HookOptions
from accesspoint.options import AccessPointOptions
from infra.kernel.errors import ConfigError

URL = "https://backend.example.com/subscribe"


@pytest.mark.parametrize("url", [URL, "http://127.0.0.1:9/x", "http://localhost/x", "http://[::1]/x"])
def test_https_may_go_anywhere_and_http_to_this_machine(url: str) -> None:
    HookOptions(subscribe=url, connect=url).check()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"subscribe": ""}, r"hook\.subscribe is ''; write a URL"),
        ({"subscribe": "backend/x"}, "write a URL"),
        ({"subscribe": "file:///etc/passwd"}, "write a URL"),
        ({"subscribe": "https://[broken"}, "write a URL"),
        ({"connect": "https://"}, r"hook\.connect is 'https://'; write a URL"),
        ({"subscribe": "http://backend.example.com/x"}, "must be https.*allow_plain = true"),
        ({"connect": "http://127.0.0.1.example.com/x"}, "must be https"),
        ({"timeout_s": 0.0}, "timeout_s is 0"),
        ({"max_open": 0}, "max_open is 0"),
        ({"ttl_s": float("inf")}, "ttl_s is inf"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        HookOptions(**{"subscribe": URL, **settings}).check()


def test_http_goes_elsewhere_only_if_the_file_says_so() -> None:
    HookOptions(subscribe="http://backend/x", allow_plain=True, ttl_s=0, max_waiting=0).check()


def test_the_policy_hook_needs_the_table() -> None:
    with pytest.raises(ConfigError, match=r'policy is "hook", but there is no table \[accesspoint\.hook\].*subscribe = "https'):
        options().check()


def test_a_question_that_failed_can_be_asked_once_more_in_the_time_of_a_call() -> None:
    options(hook=HookOptions(subscribe=URL)).check()
    with pytest.raises(ConfigError, match=r"accesspoint\.call_s must be at least 2 times accesspoint\.hook\.timeout_s"):
        options(hook=HookOptions(subscribe=URL, timeout_s=3.0)).check()


def options(**settings: Any) -> AccessPointOptions:
    """Returns the options of an access point with the policy `hook`."""
    return AccessPointOptions(site="sto", node="ap1", aggregators=["a1"], policy="hook", **settings)

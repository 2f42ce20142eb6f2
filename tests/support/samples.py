"""The sample configuration under infra/deploy, as tests read it, and tokens for what runs on it."""

import time
import tomllib
from pathlib import Path
from typing import Any

from infra.runtime.tokens import issue
from segue.cluster.process_file import read
from segue.cluster.roles import ROLES

DEPLOY = Path(__file__).resolve().parents[2] / "infra" / "deploy"
SAMPLES = sorted((DEPLOY / "config").glob("*.toml"))
SECRET = b"a secret of thirty-two bytes, ok"


def role_of(path: Path) -> str:
    """Returns the role whose table the sample at `path` has."""
    (role,) = tomllib.loads(path.read_text(encoding="utf-8")).keys() & ROLES.keys()
    return role


def options_of(path: Path, **overrides: str) -> Any:
    """Returns the options of the sample at `path`. `overrides` are TOML literals for keys of its role."""
    role = role_of(path)
    return read(path, role, {f"{role}.{key}": value for key, value in overrides.items()})[1]


def user_token(user: str) -> str:
    """Returns a client's token, signed with `SECRET`."""
    return issue(SECRET, user=user, ttl_s=600, now_s=time.time())


def service_token(service: str) -> str:
    """Returns a service's token, signed with `SECRET`."""
    return issue(SECRET, service=service, ttl_s=600, now_s=time.time())

"""The configuration file of a process: a table for each role that it may run, and what all roles share."""

from pathlib import Path
from typing import Any, Final

import msgspec

from infra.kernel.errors import ConfigError
from infra.runtime.audit import AuditOptions
from infra.runtime.config import load
from infra.runtime.http.web_limits import WebLimits
from infra.runtime.link_auth import LinkAuthOptions
from infra.runtime.logs import LogOptions
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.tls.contexts import TlsOptions
from infra.runtime.tokens import AuthOptions

from .role_spec import RoleOptions
from .roles import ROLES

_STRICT: Final[Any] = {"frozen": True, "kw_only": True, "forbid_unknown_fields": True}


class ProcessFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of a configuration file that are for every role. `admin` has the limits of the admin door."""

    auth: AuthOptions = AuthOptions()
    link_auth: LinkAuthOptions = LinkAuthOptions()
    log: LogOptions = LogOptions()
    audit: AuditOptions = AuditOptions()
    outgoing: OutgoingOptions = OutgoingOptions()
    tls: TlsOptions = TlsOptions()
    admin: WebLimits = WebLimits()

    def check(self) -> None:
        """Raises ConfigError for a table that makes no sense."""
        self.admin.check_in("admin")


def read(path: Path, role: str, overrides: dict[str, str]) -> tuple[ProcessFile, RoleOptions]:
    """Returns what is for every role in the file at `path`, and its table for `role`.

    `overrides` are dotted keys with TOML literals; they win over the file. The tables of other roles are checked, too. Raises
    ConfigError.
    """
    file: Any = load(path, _schema(), overrides)
    options: RoleOptions | None = getattr(file, role)
    if options is None:
        raise ConfigError(f"{path}: there is no table [{role}]")
    return ProcessFile(**{name: getattr(file, name) for name in ProcessFile.__struct_fields__}), options


def _schema() -> type[msgspec.Struct]:
    """Returns the schema of a whole file: ProcessFile with one optional table for each role."""
    tables = [(spec.name, spec.options.get() | None, None) for spec in ROLES.values()]
    return msgspec.defstruct("WholeProcessFile", tables, bases=(ProcessFile,), **_STRICT)

"""The `segue` command."""

import sys

import click

from infra.kernel.errors import ConfigError, Refused

from .demo.command import demo
from .role import COMMANDS
from .token import token
from .top import top
from .up import up


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="segue")
def cli() -> None:
    """Segue: a social publish/subscribe backend."""


for command in (up, *COMMANDS, token, top, demo):
    cli.add_command(command)


def main() -> None:
    """Run the command line; what the operator can mend is one line on stderr, not a traceback."""
    try:
        cli()
    except (ConfigError, Refused) as trouble:
        click.echo(f"segue: {trouble}", err=True)
        sys.exit(2)
    except OSError as trouble:
        click.echo(f"segue: {trouble.strerror or trouble}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

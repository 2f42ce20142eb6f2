"""The `segue` command."""

import sys
from typing import Final

import click

from infra.kernel.errors import SegueError

from .analyze.command import analyze
from .cassandra.command import cassandra
from .demo.command import demo
from .listen import listen
from .notify import notify
from .offload_demo.command import offload_demo
from .plan.command import plan
from .publish import publish
from .replay.command import replay
from .role import COMMANDS
from .rules import rules
from .token import token
from .top import top
from .up import up

# Of the extra `analytics`; what serves does without them.
_ANALYTICS: Final = ("matplotlib", "numba", "numpy", "pandas", "powerlaw", "pyarrow", "pyspark", "scipy")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="segue")
def cli() -> None:
    """Segue: a social publish/subscribe backend."""


for command in (up, *COMMANDS, demo, offload_demo, publish, notify, listen, token, top, rules, cassandra, analyze, plan, replay):
    cli.add_command(command)


def main() -> None:
    """Run the command line; what the operator can mend is one line on stderr, not a traceback."""
    try:
        cli()
    except SegueError as trouble:
        click.echo("\n".join([f"segue: {trouble}", *getattr(trouble, "__notes__", ())]), err=True)
        sys.exit(2)
    except ModuleNotFoundError as missing:
        library = (missing.name or "").partition(".")[0]
        if library not in _ANALYTICS:
            raise
        click.echo(f"segue: this needs {library}, of the extra analytics: make setup, or pip install 'segue[analytics]'", err=True)
        sys.exit(2)
    except OSError as trouble:
        click.echo(f"segue: {trouble.strerror or trouble}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

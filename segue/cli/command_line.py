"""The command line: all commands, and what is said when one fails."""

import sys
from typing import Final

import click

from infra.kernel.errors import SegueError
from infra.runtime.standard_output import guarded

from .lazy_group import Entry, LazyGroup

ROLES: Final = ("accesspoint", "aggregator", "artist", "broker", "notification", "decision", "playlist", "presence", "social")
COMMANDS: Final = (
    *(Entry(role, f"segue.cli.role:{role}", f"Run one {role}") for role in ROLES),
    Entry("act", "segue.cli.act:act", "Tell a user's friends what the user does"),
    Entry("analyze", "segue.cli.analyze.command:analyze", "Know the workload: make, check, characterize and compare"),
    Entry("cassandra", "segue.cassandra.command:cassandra", "A real Cassandra server on this machine"),
    Entry("demo", "segue.demo.command:demo", "Let the users of Last.fm play what they really played"),
    Entry("listen", "segue.cli.listen:listen", "Print what is published on each TOPIC"),
    Entry("new-epoch", "segue.cli.new_epoch:new_epoch", "Begin a new epoch of a notification store"),
    Entry("notify", "segue.cli.notify:notify", "Tell followers of TOPIC something"),
    Entry("offload-demo", "segue.offload_demo.command:offload_demo", "Let the users of Last.fm play more than the capacity allows"),
    Entry("plan", "segue.cli.plan.command:plan", "Plan capacity on a trace"),
    Entry("publish", "segue.cli.publish:publish", "Publish an event on TOPIC, or those in a file"),
    Entry("replay", "segue.cli.replay.command:replay", "Play what is in TRACE against a running engine"),
    Entry("rules", "segue.cli.rules:rules", "What is told to whom, and on which channel"),
    Entry("token", "segue.cli.token:token", "Print a token for a user or for a service"),
    Entry("top", "segue.cli.top.command:top", "Show connections, topics, rates, queues, memory and CPU"),
    Entry("up", "segue.cli.up:up", "Run a whole site, or several, in this one process"),
)
# Of the extra `analytics`; what serves does without them.
_ANALYTICS: Final = ("matplotlib", "numba", "numpy", "pandas", "powerlaw", "pyarrow", "pyspark", "scipy")


@click.group(cls=LazyGroup, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="segue")
def cli() -> None:
    """Segue: a social publish/subscribe backend."""


def run() -> None:
    """Runs it; what the operator can mend is one line on stderr, not a traceback."""
    try:
        with guarded():
            cli()
    except SegueError as trouble:
        click.echo("\n".join([f"segue: {trouble}", *getattr(trouble, "__notes__", ())]), err=True)
        sys.exit(2)
    except ModuleNotFoundError as missing:
        library = (missing.name or "").partition(".")[0]
        if library not in _ANALYTICS:
            raise
        click.echo(f"segue: this needs {library}, of the extra analytics. In the folder of Segue: make setup-analytics", err=True)
        sys.exit(2)
    except OSError as trouble:
        click.echo(f"segue: {trouble.strerror or trouble}", err=True)
        sys.exit(1)

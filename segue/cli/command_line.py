"""The command line: all commands, and what is said when one fails."""

import sys
from typing import Final

import click

from infra.kernel.errors import SegueError
from infra.kernel.printable import printable_lines
from infra.runtime.standard_output import guarded

from ..cluster.roles import ROLES
from .lazy_group import LazyGroup, entry

SECTIONS: Final = {
    "Try it": (
        entry("up", "segue.cli.up:up", "Run a whole site, or several, in this one process"),
        entry("demo", "segue.demo.command:demo", "Let the users of Last.fm play what they really played"),
        entry("drill", "segue.drill.command:drill", "Break a cluster of its own"),
        entry("offload-demo", "segue.offload_demo.command:offload_demo", "Let the users of Last.fm play more than the capacity allows"),
    ),
    "Use it": (
        entry("token", "segue.cli.token:token", "Print a token for a user or for a service"),
        entry("listen", "segue.cli.listen:listen", "Print what is published on each TOPIC"),
        entry("history", "segue.cli.past_events:history", "Print what was stored on TOPIC"),
        entry("last", "segue.cli.past_events:last", "Print the last event of each TOPIC that has one"),
        entry("inbox", "segue.cli.inbox:inbox", "Show, read, archive and delete what a user was told"),
        entry("publish", "segue.cli.publish:publish", "Publish an event on TOPIC, or those in a file"),
        entry("act", "segue.cli.act:act", "Tell a user's friends what the user does"),
        entry("notify", "segue.cli.notify:notify", "Tell followers of TOPIC something"),
        entry("friends", "segue.cli.friends:friends", "Follow users, and list who is followed and who follows"),
        entry("links", "segue.cli.links:links", "Link address books, and list which a user has linked"),
        entry("wall", "segue.cli.links:wall", "Show or set whether a user wants wall posts"),
        entry("playlists", "segue.cli.playlists:playlists", "Make and change playlists, list and follow them"),
        entry("artists", "segue.cli.artists:artists", "Follow artists, and list whom a user follows"),
        entry("block", "segue.cli.block:block", "Block USER"),
        entry("unblock", "segue.cli.block:unblock", "Block USER no more"),
        entry("privacy", "segue.cli.privacy:privacy", "Show or set who sees what a user plays"),
        entry("prefs", "segue.cli.prefs:prefs", "Show or set which notifications a user wants"),
        entry("devices", "segue.cli.devices:devices", "List the browsers to which pushes go, or remove one"),
        entry("webhooks", "segue.cli.webhooks:webhooks", "Have a user's notifications posted to an endpoint"),
        entry("why", "segue.cli.why:why", "Say why a user got EVENT, or did not"),
    ),
    "Run a role in a process of its own": tuple(entry(spec.name, f"segue.cli.role:{spec.name}", spec.help) for spec in ROLES.values()),
    "Analyse a workload, and plan for it": (
        entry("analyze", "segue.cli.analyze.command:analyze", "Know the workload: make, check, characterize and compare"),
        entry("plan", "segue.cli.plan.command:plan", "Plan capacity on a trace"),
        entry("overlay", "segue.cli.overlay.command:overlay", "Simulate peer-to-peer overlays"),
        entry("replay", "segue.cli.replay.command:replay", "Play what is in TRACE against a running engine"),
    ),
    "Operate it": (
        entry("top", "segue.cli.top.command:top", "Show connections, topics, rates, queues, memory and CPU"),
        entry("admin", "segue.cli.admin.command:admin", "See who is here, send users away, keep them out"),
        entry("ring", "segue.cli.ring.command:ring", "Add brokers to the ring and drain them"),
        entry("rules", "segue.cli.rules:rules", "Check a rule file, or ask why a verdict is as it is"),
        entry("cassandra", "segue.cassandra.command:cassandra", "Run a real Cassandra server on this machine"),
        entry("certs", "segue.cli.certs:certs", "Make certificates for links and doors, and show what they say"),
        entry("new-secret", "segue.cli.new_secret:new_secret", "Change the signing secret"),
        entry("new-epoch", "segue.cli.new_epoch:new_epoch", "Begin a new epoch of a notification store"),
    ),
}
# The libraries of the extra `analytics`. Roles do without them, all but the decision service.
_ANALYTICS: Final = ("matplotlib", "numba", "numpy", "pandas", "powerlaw", "pyarrow", "pyspark", "scipy")


@click.group(cls=LazyGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="segue")
def cli() -> None:
    """Segue: a social publish/subscribe backend."""


def run() -> None:
    """Runs the command that was called. What the operator can mend is one line on stderr, not a traceback."""
    try:
        with guarded():
            cli()
    except SegueError as trouble:
        click.echo(printable_lines("\n".join([f"segue: {trouble}", *getattr(trouble, "__notes__", ())])), err=True)
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

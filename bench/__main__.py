"""`python -m bench [NAMES]`: run the benchmarks and print their tables. See `bench/README.md`."""

import resource
import signal
import sys
import tempfile
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from infra.runtime.logs import configure
from segue.cli.state import secret_of

from .machine import describe, table
from .process import BenchError
from .runner import Record, Runner
from .servers.peers import PEERS
from .setting import BenchSetting, two_cores
from .suite import BENCHMARKS


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, epilog=f"NAMES: {', '.join(['platforms', *BENCHMARKS])}.")
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@click.option("--runs", default=3, show_default=True, type=click.IntRange(1), help="Runs of each; the median is shown.")
@click.option("--seconds", type=click.FloatRange(0.1), help="Measure for so long, whatever a benchmark does by itself.")
@click.option("--peer", "peers", multiple=True, type=click.Choice(list(PEERS)), help="Compare with these only; may be repeated.")
@click.option("--no-peers", is_flag=True, help="Compare with nobody.")
@click.option("--peers-dir", "peers_dirs", multiple=True, type=click.Path(path_type=Path), help="Where to look for peers before PATH.")
@click.option("--json", "json_path", type=click.Path(path_type=Path, dir_okay=False), help="Write every single run to this file.")
def main(
    names: tuple[str, ...],
    runs: int,
    seconds: float | None,
    peers: tuple[str, ...],
    no_peers: bool,
    peers_dirs: tuple[Path, ...],
    json_path: Path | None,
) -> None:
    """Run the benchmarks (all, or NAMES) and print their tables.

    The server runs on one core, the generator on another one. Every run counts lost, duplicated and misrouted
    deliveries.
    """
    wanted = _known(names)
    configure("console", "error")
    _raise_file_limit()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers are ended with us
    with tempfile.TemporaryDirectory(prefix="segue-bench-") as directory, _progress() as progress:
        scratch = Path(directory)
        secret_of(scratch)
        server_core, generator_core = two_cores()
        setting = BenchSetting(
            server_core=server_core, generator_core=generator_core, state=scratch, scratch=scratch, peers_dirs=peers_dirs
        )
        task = progress.add_task("", total=len(wanted))

        def tell(text: str) -> None:
            progress.update(task, description=text)
            progress.refresh()

        runner = Runner(setting, runs=runs, seconds=seconds, peers=() if no_peers else peers or tuple(PEERS), progress=tell)
        machine = describe(setting)
        click.echo(table(setting))
        try:
            for name in wanted:
                for each in BENCHMARKS[name](runner):
                    click.echo(each)
                progress.advance(task)
        except BenchError as trouble:
            click.echo(f"bench: {trouble}", err=True)
            sys.exit(1)
        finally:
            if json_path is not None:
                _write(json_path, machine, runner.records)


def _known(names: tuple[str, ...]) -> list[str]:
    """Returns the benchmarks to run. `platforms` alone gives none: the machine is described in any case.

    Raises UsageError for an unknown name.
    """
    if unknown := sorted(set(names) - {*BENCHMARKS, "platforms"}):
        raise click.UsageError(f"no benchmark {', '.join(unknown)}; there are {', '.join(['platforms', *BENCHMARKS])}")
    return [name for name in BENCHMARKS if name in names or not names]


def _raise_file_limit() -> None:
    """Raises the soft limit of open files to the hard one: 20 000 connections need it, and child processes inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _progress() -> Progress:
    """Returns a progress bar on standard error. It is drawn on a change only: a spinner would take CPU from what is measured."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)


def _write(path: Path, machine: dict[str, str], records: list[Record]) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode({"machine": machine, "runs": records})))


if __name__ == "__main__":
    main()

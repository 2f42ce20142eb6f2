"""The `segue` command. Signals are heeded before anything is imported that takes time."""

from infra.runtime.stopping import ended_by_signals, unwind


def main() -> None:
    """Runs the command line. Ctrl-C, SIGTERM and a reader that goes end it quietly, at any moment."""
    with ended_by_signals():
        from .cli.command_line import run

        unwind()
        run()


if __name__ == "__main__":
    main()

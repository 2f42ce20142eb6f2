"""A test file is named for what it tests: `tests/<folder>/test_<name>.py` stands for `<folder>/<name>.*`."""

import re
from pathlib import Path
from typing import Final

from tests.architecture.sources import ROOT

# Folders with a theme of their own, whose tests concern several packages at once.
THEMES: Final = {
    "architecture",
    "badinput",
    "bench",
    "cluster",
    "deploy",
    "docs",
    "e2e",
    "faults",
    "fuzz",
    "security",
    "simulation",
    "support",
}
# Names that mean the same wherever they stand.
NAMES: Final = {
    "test_odd_traces.py": "does something with every valid trace, however odd (tests/support/odd_traces.py)",
    "test_whole.py": "runs what the folder is about with everything behind it",
}
EXCEPTIONS: Final = {
    "accesspoint/test_services.py": "the access point between clients and the services of its site",
    "analytics/characterization/test_characterize_command.py": "the command, on the traces that this folder's conftest.py makes",
    "analytics/characterization/test_on_a_cluster.py": "the whole job on a Spark cluster",
    "analytics/characterization/test_samples_of_the_docs.py": "the traces that several pages make",
    "analytics/planning/provisioning/test_savings.py": "results of the thesis, all algorithms together",
    "analytics/planning/satisfaction/test_twin.py": "two algorithms against their definition",
    "analytics/test_full_scale.py": "traces of the published size, through every step",
    "clients/test_calls_page.py": "docs/sdk-calls.md, against both clients, the commands and the scenarios",
    "infra/runtime/cassandra/test_outage.py": "the whole bridge while its server is away",
    "infra/runtime/http/test_loopback.py": "the engine's listener over real sockets",
    "infra/runtime/http/test_refusals.py": "the engine's listener: requests that it refuses",
    "notification/test_put_back.py": "the whole module on a store that is put back from a copy",
    "notification/test_sending.py": "mails and pushes, from the notice to a real receiver",
    "notification/test_several.py": "several nodes on one store",
    "overlay/simulator/test_contract.py": "what holds of every simulated overlay",
    "overlay/simulator/test_histories.py": "every simulated overlay, in histories that hypothesis finds",
    "segue/cli/test_endings.py": "how every command ends",
    "segue/cli/test_notifications_commands.py": "several commands and an example together",
    "segue/cli/test_publish_listen.py": "two commands together",
    "segue/test_examples.py": "examples/*.py",
    "segue/test_exports.py": "the names that `import segue` gives",
    "segue/test_page.py": "examples/follow.html in a browser",
    "segue/test_without_analytics.py": "every command that needs the extra `analytics`",
    "services/presence/test_no_trace.py": "a whole site, and then all that was stored",
    "services/presence/test_volatile.py": "what the package imports",
    "services/social/test_with_playlist.py": "two services together",
}


def strays() -> set[str]:
    """Returns the test files, from `tests/`, that stand for no file or package and are of no theme."""
    files = (path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py"))
    return {path.as_posix() for path in files if path.parts[0] not in THEMES and not _has_subject(path)}


def _has_subject(test: Path) -> bool:
    """Returns whether there is what the name says: a package, a module, a data file, the contract of several, or a page of docs."""
    name = test.stem.removeprefix("test_")
    folder, subject = ROOT / test.parent, name.removesuffix("_contract")
    page = re.sub("_pages?$", "", name)
    return any(folder.glob(f"{subject}.*")) or (folder / subject).is_dir() or (page != name and (ROOT / "docs" / f"{page}.md").exists())


def test_every_test_file_is_named_for_what_it_tests() -> None:
    assert sorted(stray for stray in strays() - EXCEPTIONS.keys() if Path(stray).name not in NAMES) == []


def test_no_exception_is_stale() -> None:
    found = strays()
    assert sorted(EXCEPTIONS.keys() - found) == []
    assert sorted(NAMES.keys() - {Path(stray).name for stray in found}) == []

"""compose.yaml, the Dockerfile and prometheus.yml agree with the sample configuration and with the project."""

import re
import tomllib
from typing import Any

import pytest
import yaml

from infra.runtime.address import Address
from tests.support.samples import DEPLOY, SAMPLES, options_of, role_of

ROOT = DEPLOY.parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PATHS = {path.stem: path for path in SAMPLES}


def port(address: str) -> int:
    return Address.parse(address).port


def services() -> dict[str, Any]:
    """Returns the services that run Segue."""
    return {name: service for name, service in COMPOSE["services"].items() if service["image"].startswith("segue:")}


def test_there_is_one_service_for_each_sample() -> None:
    assert sorted(services()) == sorted(PATHS)


@pytest.mark.parametrize("name", sorted(PATHS))
def test_a_service_runs_the_role_of_its_sample_with_that_sample(name: str) -> None:
    role, flag, path = services()[name]["command"]
    assert (role, flag, path) == (role_of(PATHS[name]), "--config", f"/etc/segue/{name}.toml")
    assert "./config:/etc/segue:ro" in services()[name]["volumes"]


@pytest.mark.parametrize("name", sorted(PATHS))
def test_the_ports_of_a_service_are_those_of_its_sample(name: str) -> None:
    service, options = services()[name], options_of(PATHS[name])
    (checked,) = re.findall(r"http://127\.0\.0\.1:(\d+)/readyz", " ".join(service["healthcheck"]["test"]))
    assert int(checked) == port(options.admin)
    published = [int(each.rpartition(":")[2]) for each in service.get("ports", ())]
    assert published == ([port(options.door)] if hasattr(options, "door") else [])


@pytest.mark.parametrize("name", sorted(PATHS))
def test_who_stores_and_nobody_else_has_a_folder_of_the_host_where_its_sample_says(name: str) -> None:
    options = options_of(PATHS[name])
    folder = getattr(options, "path", None) or getattr(options, "state", None)
    assert [each["target"] for each in state_folders(services()[name])] == ([str(folder)] if folder else [])


def test_the_folder_of_the_host_is_the_one_that_the_page_says_to_make() -> None:
    """Docker would make a missing one as root, and the processes could not write there."""
    for mount in (mount for service in services().values() for mount in state_folders(service)):
        source = (DEPLOY / mount["source"]).resolve().relative_to(ROOT)
        assert mount["bind"] == {"create_host_path": False}
        assert f"mkdir -p {source}\n" in (DEPLOY / "README.md").read_text(encoding="utf-8")


def state_folders(service: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the mounts that a service may write to."""
    return [each for each in service["volumes"] if isinstance(each, dict)]


@pytest.mark.parametrize("name", sorted(PATHS))
def test_a_link_address_names_the_service_that_listens_there(name: str) -> None:
    options = options_of(PATHS[name])
    if hasattr(options, "listen"):
        assert Address.parse(options.listen).host == name


def test_no_port_of_the_host_is_published_twice_and_all_are_for_this_machine_only() -> None:
    published = [each.rpartition(":")[0] for service in COMPOSE["services"].values() for each in service.get("ports", ())]
    assert len(set(published)) == len(published) > 0
    assert all(each.startswith("127.0.0.1:") for each in published)


def test_the_secret_is_mounted_where_every_sample_looks_for_it() -> None:
    name, monitor, of_links = COMPOSE["secrets"]
    assert all(service["secrets"] == [name, of_links] for service in services().values())
    for path in SAMPLES:
        assert tomllib.loads(path.read_text(encoding="utf-8"))["auth"]["secret_file"] == f"/run/secrets/{name}"
        assert tomllib.loads(path.read_text(encoding="utf-8"))["link_auth"]["secret_files"] == [f"/run/secrets/{of_links}"]
    assert (DEPLOY / COMPOSE["secrets"][name]["file"]).resolve() == ROOT / ".segue" / "secret.key"
    assert (DEPLOY / COMPOSE["secrets"][of_links]["file"]).resolve() == ROOT / ".segue" / "link.key"
    assert COMPOSE["services"]["prometheus"]["secrets"] == [monitor]


def test_prometheus_shows_the_token_that_is_mounted_for_it() -> None:
    """DPS-25: it has a token of a monitor, who may read admin doors and nothing else."""
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    assert job["authorization"] == {"type": "Bearer", "credentials_file": f"/run/secrets/{list(COMPOSE['secrets'])[1]}"}


def test_every_service_has_time_to_drain() -> None:
    """As README.md says: an access point with 10,000 clients, too."""
    for name, service in services().items():
        options = options_of(PATHS[name])
        needed_s = getattr(options, "drain_s", 0.0) + getattr(options, "drain_wait_s", 0.0)
        needed_s += 10_000 / per_s if (per_s := getattr(options, "drain_per_s", 0.0)) else 0.0
        assert int(service["stop_grace_period"].removesuffix("s")) > needed_s


def test_files_that_are_mounted_exist() -> None:
    mounts = [each for service in COMPOSE["services"].values() for each in service.get("volumes", ()) if isinstance(each, str)]
    mounted = {each.partition(":")[0] for each in mounts} - COMPOSE["volumes"].keys()
    assert [path for path in mounted if not (DEPLOY / path).exists()] == []


def test_the_image_is_that_of_this_version_and_runs_as_nobody_in_particular() -> None:
    version = PROJECT["project"]["version"]
    assert {service["image"] for service in services().values()} == {f"segue:{version}"}
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert f"-t segue:{version} " in text
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE)


def test_the_image_is_made_from_exactly_the_packages_of_the_project() -> None:
    packages = {pattern.rstrip("*") for pattern in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]}
    copied = set(re.findall(r"^COPY (\w+) \1$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE))
    allowed = set(re.findall(r"^!(.+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8"), re.MULTILINE))
    assert copied == packages | {"requirements"}
    assert allowed == copied | {"pyproject.toml", "LICENSE"}


def test_prometheus_scrapes_the_admin_door_of_every_service() -> None:
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    targets = [target for group in job["static_configs"] for target in group["targets"]]
    assert sorted(targets) == sorted(f"{name}:{port(options_of(path).admin)}" for name, path in PATHS.items())


def test_the_page_makes_every_secret_that_is_mounted() -> None:
    """Docker mounts no file that is not there: whoever follows the page has each of them."""
    page = (DEPLOY / "README.md").read_text(encoding="utf-8")
    made = set(re.findall(r"(?:/dev/stdin |certs secret )(\.segue/[\w.]+)", page)) | {".segue/secret.key"}  # the last one by `segue token`
    assert {str((DEPLOY / each["file"]).resolve().relative_to(ROOT)) for each in COMPOSE["secrets"].values()} <= made


def test_who_takes_orders_of_operators_writes_them_in_a_file() -> None:
    """The roles with an audited route: brokers, and those that replay dead letters and run jobs."""
    audited = {"broker", "notification", "artist"}
    for name, path in PATHS.items():
        sample = tomllib.loads(path.read_text(encoding="utf-8"))
        expected = f"/var/lib/segue/audit-{name}.jsonl" if role_of(path) in audited else None
        assert sample["audit"].get("path") == expected

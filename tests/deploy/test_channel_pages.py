"""The pages on mail and push tell the options that there are, and their samples load."""

import re
from pathlib import Path

import msgspec
import pytest

from infra.runtime.config import load
from notification.email import EmailOptions
from notification.letter import Line
from notification.push import PushOptions, push_payload

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Channels(msgspec.Struct, kw_only=True):
    """The options that a sample on these pages may hold."""

    email: EmailOptions | None = None
    push: PushOptions | None = None


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A file with them."""

    notification: Channels


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "options"), [("email.md", EmailOptions), ("web-push.md", PushOptions)])
def test_the_table_of_options_has_each_of_them_and_its_default(name: str, options: type[msgspec.Struct]) -> None:
    table = page(name).split("## Setting it up")[1].split("```toml")[0]
    rows = dict(re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", table, re.MULTILINE))
    told = {key: default for keys, default in rows.items() for key in re.findall(r"`(\w+)`", keys)}
    fields = msgspec.structs.fields(options)
    assert set(told) == {field.name for field in fields}
    for field in fields:
        if field.default is msgspec.NODEFAULT:
            assert told[field.name] == "required"
        elif field.default is not None:
            assert msgspec.json.decode(told[field.name].strip("`")) == field.default


@pytest.mark.parametrize("name", ["email.md", "web-push.md"])
def test_the_sample_loads(name: str, tmp_path: Path) -> None:
    [sample] = re.findall(r"^```toml\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)
    path = tmp_path / "sample.toml"
    path.write_text(sample, encoding="utf-8")
    loaded = load(path, Sample).notification
    assert (loaded.email or loaded.push) is not None


def test_the_page_tells_each_field_of_a_push() -> None:
    line = Line(topic="hm://notifications/feed/bjork%new-album/", cls="new-album", kind="new-album", ts_ms=1, id="e1")
    table = page("web-push.md").split("A push is a JSON object")[1].split("##")[0]
    keys = [key for cell in re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", cell)]
    assert sorted(keys) == sorted(msgspec.json.decode(push_payload(line)))

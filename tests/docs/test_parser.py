"""What a page asks for is read off its text: commands, files, scripts, and when to stop what runs."""

import pytest

from tests.docs.page import Block, Command, File, Script, Stop, split, steps
from tests.docs.shown import differs


def page(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def texts(found: list[tuple[int, str]]) -> list[str]:
    return [text for _, text in found]


def test_each_line_of_a_shell_block_is_a_command() -> None:
    found = steps(page("# Title", "", "Do this:", "", "```sh", "one 1", "", "two 2", "```"))
    assert found == [Command(text="one 1", line=6), Command(text="two 2", line=8)]


@pytest.mark.parametrize("command", ["one \\\n  -d x", "one |\n  two", "one '{\n}'", "one &&\n  two"])
def test_lines_belong_together_while_a_command_is_unfinished(command: str) -> None:
    assert split(f"{command}\nthree\n") == [(1, command), (3, "three")]


def test_a_comment_may_hold_a_quotation_mark() -> None:
    assert texts(split("one  # that's one\ntwo\n")) == ["one  # that's one", "two"]


def test_a_block_in_a_list_is_one_too() -> None:
    assert steps(page("- So:", "", "  ```sh", "  one", "  ```")) == [Command(text="one", line=4)]


def test_what_directly_follows_a_command_is_what_it_shows() -> None:
    shown = page("```sh", "one", "two", "```", "", "```json", "{}", "```", "", "Or", "", "```json", "[]", "```")
    first, second = steps(shown)
    assert isinstance(first, Command)
    assert isinstance(second, Command)
    assert first.shown is None
    assert second.shown == Block(language="json", text="{}\n", line=6, before="")


def test_a_console_block_has_commands_behind_prompts_and_what_they_print() -> None:
    (found,) = steps(page("```console", "$ one", "a", "b", "```"))
    assert isinstance(found, Command)
    assert (found.text, found.line) == ("one", 2)
    assert found.shown is not None
    assert found.shown.text == "a\nb\n"


def test_a_block_that_is_to_be_saved_is_a_file() -> None:
    assert steps(page("Save it as `x.toml`:", "", "```toml", "a = 1", "```")) == [File(name="x.toml", text="a = 1\n", line=3)]


def test_python_and_javascript_are_scripts_and_other_languages_only_show() -> None:
    found = steps(page("```python", "pass", "```", "", "```js", ";", "```", "", "```toml", "a = 1", "```"))
    assert found == [Script(language="python", text="pass\n", line=1), Script(language="js", text=";\n", line=5)]


@pytest.mark.parametrize("prose", ["Stop it first.", "It runs. Stop it:"])
def test_a_sentence_that_begins_with_stop_is_a_step(prose: str) -> None:
    assert steps(page(prose, "", "```sh", "one", "```")) == [Stop(line=3), Command(text="one", line=4)]


def test_that_something_stops_with_a_key_is_no_step() -> None:
    assert steps(page("It stops with Ctrl-C.", "", "```sh", "one", "```")) == [Command(text="one", line=4)]


@pytest.mark.parametrize(
    ("shown", "printed", "is_same"),
    [
        ('{"accepted":1,"ts_ms":1790000000000}', '{"ts_ms": 1795231516046, "accepted": 1}', True),
        ('{"accepted":1}', '{"accepted":2}', False),
        ('{"accepted":1}', '{"accepted":1,"more":null}', False),
        ('{"accepted":1}', "accepted 1", False),
    ],
)
def test_json_that_is_shown_is_compared_but_for_moments(shown: str, printed: str, is_same: bool) -> None:
    assert (differs(Block("json", shown, 1, ""), printed) is None) is is_same


@pytest.mark.parametrize(
    ("printed", "is_same"), [("8 events, 1,177 pairs\nlost 0\n", True), ("8 events, 9 pairs lost 0", True), ("8 events\n", False)]
)
def test_text_that_is_shown_is_compared_but_for_its_numbers(printed: str, is_same: bool) -> None:
    assert (differs(Block("text", "12 events, 3 pairs\nlost 0\n", 1, ""), printed) is None) is is_same

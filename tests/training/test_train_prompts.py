"""The prompts that questions are asked for with, word for word."""

import os
from pathlib import Path

import pytest

from assistant.prompts.render import load_prompt
from training.truthreader.writer import PROMPTS

GOLDEN = Path(__file__).parent / "golden"
GAPS = {
    "fact": ("material",),
    "summary": ("material",),
    "follow_up": ("earlier", "material"),
    "instruction": ("examples", "material"),
    "answer": ("length", "material", "earlier", "request"),
    "refusal": ("papers", "question"),
    "attribution": ("papers", "sentence"),
}


@pytest.mark.parametrize("name", GAPS)
def test_golden_prompt(name: str) -> None:
    messages = load_prompt(name, PROMPTS).render(**{gap: f"<{gap}>" for gap in GAPS[name]})
    text = "".join(f"--- {message.role} ---\n{message.content}\n" for message in messages)
    path = GOLDEN / f"prompt_{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")

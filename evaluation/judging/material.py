"""What a judge is shown: the texts under numbers, their labels made one, and what the marks mean."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from assistant.prompts import as_written, mark
from assistant.records import Evidence

RULES = (Path(__file__).parent / "rules.md").read_text(encoding="utf-8").strip()
# What is meant alike whatever is judged.
COHERENCE = "its sentences and paragraphs follow from each other and make one line of thought."
FLUENCY = "it is plain, correct English that reads easily."
_LABEL = re.compile(r"\[(\d{1,3})\]")


def qualities(definitions: Mapping[str, str]) -> str:
    """Return what is marked, each quality with what is meant by it."""
    return "\n".join(f"- {name}: {meaning}" for name, meaning in definitions.items())


def numbered(texts: Sequence[str]) -> str:
    """Return foreign texts in the order in which they are shown, each under its number."""
    shown = (between(f"text {place}", as_written(text)) for place, text in enumerate(texts, start=1))
    return "\n\n".join(shown)


def between(name: str, body: str) -> str:
    """Return what is fit to stand in a prompt, between marks."""
    return f"{mark(name)}\n{body}\n{mark(f'end of {name}')}"


def relabelled(text: str, evidence: Evidence, labels: Mapping[str, int]) -> str:
    """Return a text over `evidence` with the labels that its papers, by their ids, have in `labels`.

    What names none of these is marked as unknown, as checked answers do: it could else name another paper.
    """
    own = {one.label: one.paper.id for one in evidence.papers}

    def relabel(found: re.Match[str]) -> str:
        label = labels.get(own.get(int(found[1]), ""))
        return f"[{found[1]}?]" if label is None else f"[{label}]"

    # First made data: what becomes a label by that is one like the others.
    return _LABEL.sub(relabel, as_written(text))

"""A stand-in for a model that writes training data: it quotes the material it is shown."""

import hashlib
import json
import re
from pathlib import Path

from corpus.sentences import sentence_spans
from tests.standin_chat import Behaviour, Received, reply

_PASSAGE = re.compile(r"⟦passage: [^⟧]*⟧\n(?P<text>[^⟦]+)")
SUBJECTS = (
    ("skylarks", "Skylarks over Harrow Down", "Skylark", 1962),
    ("mosses", "Mosses on North Walls", "Moss", 1971),
    ("herrings", "Herrings in the Sound", "Herring", 1984),
    ("lanterns", "Lanterns of Kestrel Bay", "Lantern", 1933),
    ("bridges", "Bridges of Timber and Rope", "Bridge", 1908),
    ("clocks", "Clocks in Village Towers", "Clock", 1877),
)


def write_documents(path: Path) -> Path:
    """Write six small documents of several passages each as JSON lines."""
    lines = [
        {"id": key, "title": title, "text": "\n\n".join(_body(name, year))}
        for key, title, name, year in SUBJECTS
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def _body(name: str, year: int) -> tuple[str, ...]:
    low = name.lower()
    return (
        f"{name} records were collected by hand in {year} along the whole coast. "
        f"The {low} survey counted {year - 1800} sites within three weeks of steady work. "
        f"Every {low} site was visited twice before day {year - 1700} so that weather would not decide. "
        f"{name} counts rose sharply after the second visit because observers knew the paths. "
        f"Older {low} registers had named only a quarter of those sites, mostly near harbours. ",
        f"Methods for {low} counting differ mainly in how observers are trained beforehand. "
        f"Trained {low} observers missed one site in {year - 1850}, untrained ones many more than that. "
        f"A training course for {low} observers takes two days and ends with a supervised walk. "
        f"Cheap {low} maps were printed for everybody and returned with pencil marks afterwards. "
        f"These marks made later {low} surveys quicker by roughly one half in the following season. ",
        *(_season(low, year + place) for place in range(4)),
    )


def _season(low: str, year: int) -> str:
    return (
        f"During {year} the {low} team walked {year - 1790} paths between the harbour and the old mill. "
        f"Rain stopped the {low} walks on {year - 1850} days, mostly in spring and late autumn mornings. "
        f"Volunteers of {year} wrote every {low} remark into bound books with numbered pages for later use."
    )


def quote_material(request: Received) -> Behaviour:
    """Reply by quoting what the prompt shows, the same for the same prompt."""
    system, prompt = (message["content"] for message in request.body["messages"][:2])
    passages = [found["text"].strip() for found in _PASSAGE.finditer(prompt)]
    if "Reply with" not in system:
        return reply(_explanation(prompt) if "do not answer" in prompt else _answer(prompt, passages))
    if "Sentence:" in prompt:
        return reply(json.dumps({"papers": _stating(prompt)}))
    number = int(hashlib.sha256(prompt.encode()).hexdigest()[:6], 16)
    # An instruction names what all of its papers are about, so that it finds them again.
    named = " and ".join(" ".join(text.lower().split()[:4]) for text in passages[:3])
    asked = f"What is known about {named} in survey {number}?"
    return reply(json.dumps({"requests": [asked]}))


def _answer(prompt: str, passages: list[str]) -> str:
    places = range(2 if len(passages) == 1 else 1)
    shift = "⟦earlier⟧" in prompt
    return " ".join(_sentence(text, place + shift) for text in passages for place in places)


def _explanation(prompt: str) -> str:
    titles = re.findall(r"^Title: (.+)$", prompt, re.MULTILINE)
    return f"The papers are about {' and '.join(titles)}. They leave open what was asked."


def _stating(prompt: str) -> list[int]:
    """Return the labels of the papers that hold the prompt's sentence word for word."""
    papers, _, sentence = prompt.rpartition("Sentence: ")
    parts = re.split(r"^\[(\d+)\] ⟦paper \d+⟧$", papers, flags=re.MULTILINE)[1:]
    labelled = zip(parts[::2], parts[1::2], strict=True)
    return [int(label) for label, text in labelled if sentence.strip() in text]


def _sentence(text: str, place: int) -> str:
    start, end = sentence_spans(text)[place]
    return text[start:end].strip()

"""Turns made by hand, for what is drawn of them."""

from typing import Any

from assistant.records import (
    Answer,
    AnswerSentence,
    Citation,
    Evidence,
    LabelledPaper,
    Provenance,
    Rewrite,
    Turn,
)
from corpus.records import Box, Paper, Passage, Scope, Section, Sentence


def make_paper(name: str) -> Paper:
    return Paper(name, "c", f"Title of {name}", (), 2022, "ACL", "")


def make_passage(paper: str, number: int, text: str = "One here. Two there. Three.") -> Passage:
    sentences = (
        Sentence(0, 10, (Box(2, 10, 20, 30, 8),)),
        Sentence(10, 21, (Box(3, 10, 700, 30, 8),)),
        Sentence(21, 27),
    )
    return Passage(
        f"{paper}#{number}", paper, "c", number, "body", (Section("3", "Method"),), text, sentences, 2
    )


def make_turn(text: str, *sentences: AnswerSentence) -> Turn:
    evidence = Evidence(
        tuple(
            LabelledPaper(
                label, make_paper(f"p{label}"), (make_passage(f"p{label}", 1), make_passage(f"p{label}", 2))
            )
            for label in (1, 2)
        )
    )
    return Turn(
        "q", "2026-01-01T00:00:00+00:00", Scope(), 10, Rewrite("q", "q"), (), evidence,
        Answer(text, sentences), (), (), Provenance("x", "x", "x", "x", ()),
    )  # fmt: skip


def citation(label: int, passage: int, sentence: int | None, overlap: float = 0.7) -> Citation:
    values: dict[str, Any] = {"label": label, "passage_id": f"p{label}#{passage}", "sentence": sentence}
    return Citation(**values, claim="claim", evidence="Two there.", overlap=overlap)


TEXT = "First [2]. Second [1][2]. Third."
TURN = make_turn(
    TEXT,
    AnswerSentence(0, 11, "First.", (2,), (citation(2, 2, 1),)),
    AnswerSentence(11, 26, "Second.", (1, 2), (citation(1, 1, 0, 0.1), citation(2, 1, 2, 0.2))),
    AnswerSentence(26, 32, "Third.", (), ()),
)

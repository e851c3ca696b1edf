"""Answers over small papers that are made without a generator."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.checking.citations import check_sentences
from assistant.records import Answer, Evidence, LabelledPaper, Provenance
from tests.small_corpus import make_paper, make_passages


def answered(
    text: str, papers: Mapping[str, Sequence[str]], generator: str = "extractive", **of_answer: Any
) -> dict[str, Any]:
    """Return evidence of papers with these passages, an answer that says `text`, and the rest."""
    labelled = []
    for label, (key, passages) in enumerate(papers.items(), start=1):
        paper = replace(make_paper("shelf", key, title=f"On {key}"), abstract=" ".join(passages))
        labelled.append(LabelledPaper(label, paper, tuple(make_passages(paper, list(passages)))))
    evidence = Evidence(tuple(labelled))
    return {
        "asked": "2026-11-22T00:00:00.000+00:00",
        "evidence": evidence,
        "answer": Answer(text, check_sentences(text, evidence), **of_answer),
        "calls": (),
        "seconds": (),
        "provenance": Provenance("Paper Trail", generator, "encoder", "0", ()),
    }

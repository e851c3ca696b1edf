"""Bounds of the numbers, texts and lists in conversations and comparisons read from files."""

from dataclasses import fields

from assistant.annotations import LONGEST_NOTE, LONGEST_QUOTE, MOST_ANNOTATIONS
from assistant.records import Answer, AnswerSentence, Citation
from corpus.bounds.bound import Bound, Bounds
from corpus.bounds.of_corpus import OF_CORPUS, PASSAGE_TEXT, REMARK, SCORE, SHARE

LONGEST_QUESTION = 2_000
LONGEST_DESCRIPTION = 20_000
# Of the reader's own questions to each paper of a comparison.
MOST_COLUMNS, LONGEST_COLUMN = 5, 300
# A summary has 30,000 characters at most, and more where ranges of labels, "[1-9]", are written out.
LONGEST_ANSWER = 60_000
_ANSWER = Bound(longest=LONGEST_ANSWER)
# A rewriting adds words of earlier questions and names of papers to the reader's own.
_QUERY = Bound(longest=3 * LONGEST_QUESTION)

# Every float of a checked text is a score from 0 to 1, or None.
_SCORES = (
    f"{record.__name__}.{score.name}"
    for record in (Answer, AnswerSentence, Citation)
    for score in fields(record)
    if score.type == float | None
)

OF_TRAILS = Bounds(
    {
        **OF_CORPUS.named,
        **dict.fromkeys(_SCORES, SHARE),
        "Conversation.turns": Bound(entries=5_000),
        "Conversation.notes": Bound(entries=MOST_ANNOTATIONS),
        "Annotation.note": Bound(longest=LONGEST_NOTE),
        "Annotation.quoted": Bound(longest=LONGEST_QUOTE),
        "Turn.question": Bound(longest=LONGEST_QUESTION),
        "Turn.papers_wanted": Bound(0, 1_000),
        "Turn.drafts": Bound(0, 100),
        "Turn.calls": Bound(entries=1_000),
        "Rewrite.question": Bound(longest=LONGEST_QUESTION),
        "Rewrite.search_query": _QUERY,
        "Rewrite.read_as": _QUERY,
        "Rewrite.abbreviations": Bound(longest=200, entries=20),
        **dict.fromkeys(
            (f"ScoredPassage.{name}" for name in ("score", "dense", "lexical", "sentence")), SCORE
        ),
        "Evidence.papers": Bound(entries=100),
        "LabelledPaper.passages": Bound(entries=2_000),
        "Answer.text": _ANSWER,
        "AnswerSentence.claim": _ANSWER,
        "AnswerSentence.not_said": _ANSWER,
        "Citation.claim": _ANSWER,
        "Citation.evidence": PASSAGE_TEXT,
        "WrongCitation.claim": _ANSWER,
        "Refusal.message": REMARK,
        "NearestPassage.text": PASSAGE_TEXT,
        "NearestPassage.score": SCORE,
        # A prompt may hold whole papers.
        "Message.content": Bound(longest=4_000_000),
        "Call.messages": Bound(entries=1_000),
        "Call.reply": Bound(longest=250_000),
        "Call.problem": REMARK,
        "Parameters.top_k": Bound(-1),
        "Comparison.about": Bound(longest=LONGEST_DESCRIPTION),
        "Comparison.paper_ids": Bound(entries=100),
        "Comparison.rounds": Bound(entries=100),
        "Comparison.remarks": REMARK,
        "Comparison.columns": Bound(entries=MOST_COLUMNS),
        "Comparison.notes": Bound(entries=MOST_ANNOTATIONS),
        "KeyElements.problem": REMARK,
        "KeyElement.text": REMARK,
        "KeyElement.support": SHARE,
        "ElementEvidence.text": PASSAGE_TEXT,
        "ElementEvidence.support": SHARE,
        "QuestionColumn.question": Bound(longest=LONGEST_COLUMN),
        "QuestionColumn.cells": Bound(entries=100),
        "QuotedCell.quotes": Bound(entries=100),
        "QuotedSentence.text": PASSAGE_TEXT,
        "Candidate.text": _ANSWER,
        "Candidate.citation_recall": SHARE,
        "Candidate.citation_precision": SHARE,
        "Vote.analysis": REMARK,
        "Vote.problem": REMARK,
        "Round.failed": REMARK,
    }
)

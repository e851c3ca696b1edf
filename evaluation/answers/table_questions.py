"""Questions about cells of tables, asked of whole corpora: the printed row should answer them."""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from assistant.records import Turn
from corpus.store.corpus import Corpus
from evaluation.answers.asking import ask, open_homes
from evaluation.harness import Report, command, table
from evaluation.input_files import DATA, named_folders, read_json_lines

TABLE_QUESTIONS = DATA / "table_questions.jsonl"
_HINT = "Each line has question, corpus, paper, row and value; see evaluation/README.md."


class TableQuestion(BaseModel, frozen=True, extra="forbid"):
    """A question to a corpus, and the table row that answers it: a cell that names the row, and the value.

    `paper` is the end of a paper's id.
    """

    question: str = Field(min_length=1)
    corpus: str
    paper: str = Field(min_length=1)
    row: str = Field(min_length=1)
    value: str = Field(min_length=1)


def _cited_rows(turn: Turn, corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of tables that an answer cites, the claim about each, and their papers."""
    for citation in (citation for sentence in turn.answer.sentences for citation in sentence.citations):
        (passage,) = corpus.passages_by_id([citation.passage_id])
        if passage.table and citation.sentence is not None and citation.sentence >= passage.first_row:
            yield passage.sentence_text(citation.sentence), citation.claim, passage.paper_id


def holds(text: str, part: str) -> bool:
    """Return True if a text has a part as it stands, not within longer words or figures."""
    whole, wanted = (" ".join(written.casefold().split()) for written in (text, part))
    return re.search(rf"(?<![\w.]){re.escape(wanted)}(?!\w|\.\d)", whole) is not None


@command("tables-asked")
def tables_asked(home: list[str], data: Path = TABLE_QUESTIONS) -> Report:
    rows = []
    counts = dict.fromkeys(("asked", "right_row", "right_value", "other_row", "no_row", "refused"), 0)
    for question, assistant in open_homes(read_json_lines(data, TableQuestion, _HINT), named_folders(home)):
        asked = ask(assistant, question.question)
        row, claim, paper = next(_cited_rows(asked.turn, assistant.corpus), ("", "", ""))
        is_right_row = paper.endswith(f"/{question.paper}") and all(
            holds(row, part) for part in (question.row, question.value)
        )
        is_right_value = is_right_row and holds(claim, question.value)
        counts["asked"] += 1
        counts["right_row"] += is_right_row
        counts["right_value"] += is_right_value
        counts["other_row"] += bool(row) and not is_right_row
        counts["no_row"] += not row
        counts["refused"] += asked.is_refused
        right = "value" if is_right_value else "row" if is_right_row else "no"
        answer = claim or ("refused" if asked.is_refused else "no row of a table")
        rows.append((question.question, f"{question.row}: {question.value}", answer, right))
    return Report(counts, [table(("Question", "Wanted", "Told", "Right"), rows, left=3)])

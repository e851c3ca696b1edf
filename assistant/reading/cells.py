"""The cells of a table that a question asks for by naming a row, and a column or the table."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import log

from assistant.questions.names import names_in
from assistant.questions.vocabulary import content_words, stems, vocabulary
from corpus.records import Passage, Table
from corpus.tables import column_heads, is_heading, label_columns, row_names, row_text
from corpus.text import words

# "How does the baseline work?" asks for no value, even if a table has its words.
_ASKS_FOR_VALUE = re.compile(
    r"\W{0,20}(?!(?:why|when|where|who|is|are|was|were|do|does|did|can|could)\b"
    r"|how (?:do|does|did|is|are|was|were|can|could|should|to)\b)(?:[^?]{0,80}\s)?(?:what|which|how)\b",
    re.IGNORECASE,
)
# Names of measures in tables and questions, with the stem of each.
_MEASURES = {
    short: stem
    for stem, names in {
        "precis": "p prec precision",
        "recal": "r re rec recall",
        "fscore": "f f1 f-1 f-score f-scores fscore f-measure f-measures fmeasure f1-score",
        "accuraci": "acc accuracy",
    }.items()
    for short in names.split()
}
_CAPITALS = re.compile(r"\b[A-Z][A-Z\d]+\b")
_CAPTION_LABEL = re.compile(r"\W*([^\W\d]\w*\.? \w{0,2}\.?\d+(?:\.\d+)?)")
# The least share of a question's words, by rarity, that a table must have, and of a row name's.
_LEAST_SAID, _LEAST_OF_LABEL = 0.53, 0.5
_NEARLY_AS_GOOD = 0.92
_MOST_ROWS = 3
# The weight of a word by its position.
_IN_PAPER, _IN_CAPTION, _IN_HEAD, _IN_LABEL = 0.4, 0.8, 0.9, 1.0
_UNNAMED, _UNKNOWN = 0.5, 1.0


@dataclass(frozen=True, slots=True)
class AskedCells:
    """A row of a table as a sentence of its passage, with a text of the columns asked for.

    `said` is the weighted share of the question's words in the row, its heads, caption and paper, 0..1.
    """

    passage: Passage
    sentence: int
    text: str
    said: float


def asked_cells(question: str, tables: Sequence[tuple[Passage, str]]) -> list[AskedCells]:
    """Return the rows that answer a question for a value, the likeliest first; [] for other questions.

    `tables` are passages, each with the title and abstract of its paper.
    """
    subject = " ".join(word for word in content_words(question) if word not in vocabulary().frame)
    question_words = _words(subject) | _capitals(question)
    if not question_words or not _ASKS_FOR_VALUE.match(question):
        return []
    read = [_ReadTable(passage, passage.table, stems(about)) for passage, about in tables if passage.table]
    rows = [row_words for table in read for row_words in table.words_of_rows()]
    weights = _weights(question_words, rows, question)
    cells = [cells for table in read for cells in table.cells_for(question_words, weights)]
    return _likeliest(question, cells)


def _likeliest(question: str, cells_found: Sequence[AskedCells]) -> list[AskedCells]:
    """Return the best rows of the best tables; of each table only its best, or those tied."""
    tables: dict[tuple[str, str], list[AskedCells]] = {}
    for cells in cells_found:
        tables.setdefault((cells.passage.paper_id, cells.passage.caption), []).append(cells)
    best = [max(cells.said for cells in rows) for rows in tables.values()]
    bar = max(_LEAST_SAID, _NEARLY_AS_GOOD * max(best, default=1.0))
    kept = [
        [cells for cells in rows if cells.said == most]
        for rows, most in zip(tables.values(), best, strict=True)
        if most >= bar
    ]
    # "English to German" has the words of "German to English".
    order = [_in_order(question, rows[0].passage) for rows in kept]
    surest = [rows for rows, pairs in zip(kept, order, strict=True) if pairs == max(order)]
    return sorted(chain.from_iterable(surest), key=lambda cells: -cells.said)[:_MOST_ROWS]


def _in_order(question: str, passage: Passage) -> int:
    """Count the neighbouring words of a question that a table's caption or heads have in the same order."""
    table_text = f"{passage.caption} {' '.join(column_heads(passage.table))}" if passage.table else ""
    pairs = [set(pairwise(words(text.lower()))) for text in (question, table_text)]
    return len(pairs[0] & pairs[1])


def _weights(asked: frozenset[str], rows: Sequence[frozenset[str]], question: str) -> dict[str, float]:
    """Weigh words by inverse row frequency; one in no table has weight _UNKNOWN unless it is a name."""
    counts = Counter(word for row in rows for word in row & asked)
    names = stems(" ".join(names_in(question)))
    return {
        word: log(1 + (len(rows) + 1) / (counts[word] + 1)) if counts[word] or word in names else _UNKNOWN
        for word in asked
    }


def _words(name: str) -> frozenset[str]:
    """Return the words, capitals and measures of a column's or row's name, such as "PER" and "its"."""
    measures = {_MEASURES[word] for word in re.findall(r"[\w-]+", name.lower()) if word in _MEASURES}
    return (stems(name) | _capitals(name) | measures) or frozenset(words(name.lower()))


def _capitals(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _CAPITALS.findall(text))


class _ReadTable:
    """A table with the words of its rows, heads and caption; `about` are those of its paper."""

    def __init__(self, passage: Passage, table: Table, about: frozenset[str]) -> None:
        self._passage, self._table, self._about = passage, table, about
        label = _CAPTION_LABEL.match(passage.caption)
        self._caption = stems(passage.caption[label.end() if label else 0 :])
        self._name = label[1] if label else ""
        self._first = label_columns(table)
        self._heads = [_words(head) for head in column_heads(table)[self._first :]]
        self._names = row_names(table)

    def words_of_rows(self) -> Iterator[frozenset[str]]:
        common = self._caption.union(*self._heads)
        return (stems(f"{group} {label}") | common for group, label in self._names)

    def cells_for(self, question_words: frozenset[str], weights: Mapping[str, float]) -> Iterator[AskedCells]:
        """Yield the rows that the question names, if it also names a column or the table."""
        heads = [head & question_words for head in self._heads]
        of_table = self._caption.union(*heads) & question_words
        # The columns with most of the question's words, all if it names none.
        most = max(map(len, heads), default=0)
        columns = [column for column, head in enumerate(heads, start=self._first) if len(head) == most]
        for index, (group, label) in enumerate(self._names):
            label_words = _words(label)
            hits = label_words & question_words
            is_named = hits and len(hits) >= _LEAST_OF_LABEL * len(label_words) and of_table - hits
            row = self._table.rows[self._table.header + index]
            has_figure = any(character.isdigit() for column in columns for character in row[column])
            if not is_named or is_heading(self._table, row) or not has_figure:
                continue
            worth = self._worth(label_words, stems(group).union(*heads))
            score = sum(weights[word] * worth.get(word, 0.0) for word in question_words)
            # Words of the row's name that are not asked for lower its score.
            unsaid = _UNNAMED * len(label_words - question_words)
            text = row_text(self._table, index, columns, self._name)
            sentence = self._passage.first_row + index
            yield AskedCells(self._passage, sentence, text, score / (sum(weights.values()) + unsaid))

    def _worth(self, own: frozenset[str], heads: frozenset[str]) -> dict[str, float]:
        worth = dict.fromkeys(self._about, _IN_PAPER) | dict.fromkeys(self._caption, _IN_CAPTION)
        return worth | dict.fromkeys(heads, _IN_HEAD) | dict.fromkeys(own, _IN_LABEL)

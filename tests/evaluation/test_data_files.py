"""The data that come with the evaluation: each item once, and of what there is."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from corpus.store.corpus import Corpus
from evaluation.answers.questions import (
    JUDGED,
    TABLE_QUESTIONS,
    JudgedQuestion,
    TableQuestion,
    places,
    read_judged,
)
from evaluation.answers.references import read_references
from evaluation.answers.steadiness import written_cases
from evaluation.input_files import read_json_lines
from evaluation.labels import LABELLED_FIELDS, LabelledPaper
from evaluation.tables.truthreader import answering_papers, check_corpus, read_chosen
from indexer.enrich.data_file import Table, read_data

CORPORA = ("demo", "acl-2022", "findings-2022", "acl-pdfs")
COLLECTIONS = ("2022.acl-long", "field-notes-evaluation", "field-notes-retrieval")


class _Fields(Table, extra="ignore"):
    fields: dict[str, object]


def test_every_judged_place_was_seen() -> None:
    rows = read_judged(JUDGED)
    assert len({row.id for row in rows}) == len(rows) > 1500
    for row in rows:
        assert set(places((*row.full, *row.part, *row.leaning))) <= set(places(row.seen)), row.id
        assert row.answerable or not row.full, row.id


def test_questions_of_tables_are_of_other_papers_than_those_that_were_worked_on() -> None:
    rows = read_json_lines(TABLE_QUESTIONS, TableQuestion, "")
    assert len({row.question for row in rows}) == len(rows) >= 30
    seen = {"A97-1028", "I08-4009", "P05-1053", "P06-1141", "W09-1007", "W10-1012", "W10-1727"}
    assert not seen & {row.paper for row in rows}


def test_labels_name_fields_that_there_are_each_paper_once() -> None:
    labelled = read_json_lines(LABELLED_FIELDS, LabelledPaper, "")
    assert {name for row in labelled for name in row.fields} <= read_data("fields", _Fields).fields.keys()
    assert len({row.paper for row in labelled}) == len(labelled) == 260


def test_forty_questions_to_be_refused_or_not_were_written_half_of_them_held_out() -> None:
    cases = written_cases(COLLECTIONS)
    assert Counter((case.answerable, case.part) for case in cases) == {
        (answerable, part): 20 for answerable in (True, False) for part in ("dev", "held out")
    }
    assert len({case.question for case in cases}) == 80
    assert {len(case.collections) for case in cases} == {1, 2}


def seen(question: JudgedQuestion) -> set[str]:
    return {paper for paper, _, _ in places(question.seen)}


def chosen_by_the_rule(judged: Sequence[JudgedQuestion], corpus: str) -> list[tuple[str, str, str]]:
    """Return the ids of 22 questions with a relevant and an irrelevant other, as the note has it."""
    of_corpus = [question for question in judged if question.corpus == corpus and not question.paper]
    whole = [question for question in of_corpus if question.answerable and question.full]

    def is_candidate(question: JudgedQuestion) -> bool:
        has_others = any(seen(question) & seen(other) for other in whole if other.id != question.id)
        return len(seen(question) - answering_papers(question)) >= 3 and has_others

    chance = random.Random(f"13:{corpus}")
    rows = []
    for question in chance.sample(list(filter(is_candidate, whole)), 22):
        answering, shown = answering_papers(question), seen(question)
        rest = [
            (len(answering & answering_papers(other)), len(shown & seen(other)), other) for other in whole
        ]
        rest = [counted for counted in rest if counted[2].id != question.id]
        *_, relevant = max(rest, key=lambda counted: counted[:2])
        apart = [(shared, other) for answers, shared, other in rest if not answers]
        least = min(shared for shared, _ in apart)
        irrelevant = chance.choice([other for shared, other in apart if shared == least])
        rows.append((question.id, relevant.id, irrelevant.id))
    return rows


def test_each_of_the_88_questions_has_a_reference_answer() -> None:
    references = read_references()
    assert list(references) == [chosen.judged.id for chosen in read_chosen()]
    assert all(answer.endswith(".") and 2 <= len(answer.split()) <= 100 for answer in references.values())


def test_the_88_questions_are_those_that_the_rule_chooses() -> None:
    judged = read_judged()
    of_each = [chosen_by_the_rule(judged, corpus) for corpus in CORPORA]
    wanted = [row for four in zip(*of_each, strict=True) for row in four]
    assert [
        (chosen.judged.id, chosen.relevant.id, chosen.irrelevant.id) for chosen in read_chosen()
    ] == wanted


def test_nothing_of_a_swapped_context_answers(demo_corpus: Corpus, demo_home: Path) -> None:
    chosen = read_chosen()
    for question in chosen:
        papers = set(question.swapped.papers)
        assert len(papers) >= 3 and papers <= seen(question.judged)
        assert all(grade == 0 for (paper, _, _), grade in question.judged.grades.items() if paper in papers)
    check_corpus(
        "demo", demo_home, demo_corpus, [question for question in chosen if question.judged.corpus == "demo"]
    )

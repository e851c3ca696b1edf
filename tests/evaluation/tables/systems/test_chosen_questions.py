"""The 88 questions: chosen as the note on the whole system says, their contexts without what answers."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from corpus.store import Corpus
from evaluation.judged import JudgedQuestion, places, read_judged
from evaluation.tables.systems import answering_papers, check_held, read_chosen

CORPORA = ("demo", "acl-2022", "findings-2022", "acl-pdfs")


def seen(question: JudgedQuestion) -> set[str]:
    return {paper for paper, _, _ in places(question.seen)}


def chosen_by_the_rule(judged: Sequence[JudgedQuestion], corpus: str) -> list[tuple[str, str, str]]:
    whole = [one for one in judged if one.corpus == corpus and one.answerable and one.full and not one.paper]

    def is_candidate(one: JudgedQuestion) -> bool:
        has_others = any(seen(one) & seen(other) for other in whole if other.id != one.id)
        return len(seen(one) - answering_papers(one)) >= 3 and has_others

    chance = random.Random(f"13:{corpus}")
    rows = []
    for one in chance.sample([one for one in whole if is_candidate(one)], 22):
        rest = [other for other in whole if other.id != one.id]
        relevant = max(
            rest,
            key=lambda other: (
                len(answering_papers(one) & answering_papers(other)),
                len(seen(one) & seen(other)),
            ),
        )
        apart = [other for other in rest if not answering_papers(one) & answering_papers(other)]
        least = min(len(seen(one) & seen(other)) for other in apart)
        irrelevant = chance.choice([other for other in apart if len(seen(one) & seen(other)) == least])
        rows.append((one.id, relevant.id, irrelevant.id))
    return rows


def test_the_file_has_what_the_rule_chooses() -> None:
    judged = read_judged()
    of_each = [chosen_by_the_rule(judged, corpus) for corpus in CORPORA]
    wanted = [row for four in zip(*of_each, strict=True) for row in four]
    assert [(one.judged.id, one.relevant.id, one.irrelevant.id) for one in read_chosen()] == wanted


def test_there_are_88_of_four_corpora() -> None:
    chosen = read_chosen()
    assert Counter(one.judged.corpus for one in chosen) == dict.fromkeys(CORPORA, 22)
    assert len({one.judged.id for one in chosen}) == 88
    assert sum(bool(answering_papers(one.judged) & answering_papers(one.relevant)) for one in chosen) == 60


def test_nothing_of_a_swapped_context_answers() -> None:
    for one in read_chosen():
        papers = set(one.swapped.papers)
        assert len(papers) >= 3
        assert papers <= seen(one.judged)
        assert all(grade == 0 for (paper, _, _), grade in one.judged.grades.items() if paper in papers)


def test_what_was_judged_of_the_demonstration_is_in_it(demo_corpus: Corpus, demo_home: Path) -> None:
    check_held("demo", demo_home, demo_corpus, [one for one in read_chosen() if one.judged.corpus == "demo"])

"""Drafts mended by what the papers carry: citations found, unsupported claims taken out."""

from dataclasses import replace

import pytest

from assistant.checking.answer import check
from assistant.checking.mending.lines import plain_lines
from assistant.checking.mending.roles import exchanges_words, names_another, replaces_name, texts_of
from assistant.checking.scorer import SupportScorer
from assistant.records import Answer, Draft, Evidence
from tests.assistant.checking.test_citations import make_paper

EVIDENCE = Evidence(
    (
        make_paper(
            1,
            "We study search. BM25 ranks documents by the frequency of their terms.",
            "The index of 2,000 documents is built in three minutes. Deleting a document takes longer.",
        ),
        make_paper(2, "Dense retrieval encodes text as vectors. It does not need exact words."),
        make_paper(3, "ColBERTv2 compresses its vectors, while PLAID prunes candidates with centroids."),
    )
)
CARRIED = "BM25 ranks documents by the frequency of their terms"
INVENTED = "Penguins swim faster than any other bird in the southern oceans"


@pytest.fixture(scope="module")
def answered(encoder):
    scorer = SupportScorer(encoder)

    def answer(text: str, mend: str = "claims") -> Answer:
        return check(Draft(text), "How?", EVIDENCE, (), "these papers", scorer=scorer, mend=mend)

    return answer


@pytest.mark.parametrize("mend", ["citations", "claims"])
def test_fault_an_answer_without_labels_was_said_to_be_supported_by_nothing(answered, mend):
    answer = answered(f"{CARRIED}. Dense retrieval encodes text as vectors.", mend)
    assert answer.text == f"{CARRIED} [1]. Dense retrieval encodes text as vectors [2]."
    assert [[citation.found for citation in sentence.citations] for sentence in answer.sentences] == [
        [True],
        [True],
    ]
    assert (answer.citation_recall, answer.problems) == (1.0, ())


def test_what_the_writer_cited_itself_is_not_said_to_be_found(answered):
    answer = answered(f"{CARRIED} [1]. Dense retrieval encodes text as vectors.")
    assert [citation.found for sentence in answer.sentences for citation in sentence.citations] == [
        False,
        True,
    ]


def test_a_claim_that_nothing_carries_is_taken_out_and_listed(answered):
    answer = answered(f"{CARRIED} [1]. {INVENTED} [2].")
    assert answer.text == f"{CARRIED} [1]."
    assert answer.not_carried == (f"{INVENTED}.",)
    assert answer.citation_recall == 1.0


def test_without_care_nothing_is_taken_out(answered):
    text = f"{CARRIED} [1]. {INVENTED} [2]."
    assert answered(text, "citations").text == answered(text, "nothing").text == text
    assert not answered(text, "citations").not_carried


def test_a_large_model_keeps_its_wrong_label_and_another_paper_is_offered(answered):
    wrong, right = answered(
        f"{CARRIED} [2]. Dense retrieval encodes text as vectors [2].", "citations"
    ).sentences
    assert (wrong.labels, right.better) == ((2,), None)
    assert wrong.better is not None
    assert (wrong.better.label, wrong.better.found) == (1, False)
    assert wrong.better.evidence == f"{CARRIED}."
    assert wrong.better.support > 0.9 > wrong.support


def test_no_paper_is_offered_that_does_not_support_the_claim_either(answered):
    swapped = "PLAID compresses its vectors, while ColBERTv2 prunes candidates with centroids [2]."
    sentences = answered(f"{CARRIED} [1]. {INVENTED} [2]. {swapped}", "citations").sentences
    assert [sentence.better for sentence in sentences] == [None] * 3


def test_an_answer_of_which_nothing_is_carried_is_refused(answered):
    answer = answered(f"{INVENTED}. The price was $40,000.")
    assert answer.refusal is not None and answer.refusal.reason == "not_carried"


def test_a_wrong_label_is_replaced_by_the_paper_that_carries_the_claim(answered):
    answer = answered(f"{CARRIED} [2].")
    assert answer.text == f"{CARRIED} [1]."
    assert answer.sentences[0].citations[0].found
    both = f"{CARRIED} [2]. Dense retrieval encodes text as vectors [2]."
    assert answered(both, "citations").text == both


def test_a_label_of_no_paper_is_replaced_where_a_paper_carries_the_claim(answered):
    assert answered(f"{CARRIED} [9].", "citations").text == f"{CARRIED} [1]."


def test_lists_lose_items_whole_and_lead_ins_that_lead_to_nothing(answered):
    answer = answered(
        f"They do this:\n- {CARRIED} [1].\n- {INVENTED} [2].\n- Dense retrieval encodes text as vectors."
    )
    assert answer.text == (f"They do this:\n- {CARRIED} [1].\n- Dense retrieval encodes text as vectors [2].")
    emptied = answered(f"{CARRIED} [1].\n\nOthers do this:\n- {INVENTED} [2].")
    assert emptied.text == f"{CARRIED} [1]."


def test_lines_that_begin_with_labels_become_a_list(answered):
    answer = answered(f"[1] {CARRIED}.\n[2] Dense retrieval encodes text as vectors.")
    assert answer.text == f"- {CARRIED} [1].\n- Dense retrieval encodes text as vectors [2]."


@pytest.mark.parametrize(
    "heading",
    [
        "[1] Title 1 (2022) - ",
        "**Title 1**: ",
        "1. “Title 1”: ",
        "- Paper 1: ",
        "- [1] Title 1: ",
        "Title 1 – ",
    ],
)
def test_fault_lines_behind_titles_were_said_to_be_carried_by_nothing(answered, heading):
    answer = answered(f"{heading}{CARRIED}.\n- Dense retrieval encodes text as vectors [2].")
    (first, second) = answer.text.splitlines()
    assert first in (f"- {CARRIED} [1].", f"1. {CARRIED} [1].")
    assert second == "- Dense retrieval encodes text as vectors [2]."
    assert not answer.not_carried


def test_fault_half_of_a_title_was_left_at_the_beginning_of_its_line():
    each = EVIDENCE.papers[0]
    evidence = Evidence((replace(each, paper=replace(each.paper, title="RankBERT: Ranks with BERT")),))
    whole = "RankBERT: Ranks with BERT introduces a ranker [1]."
    assert plain_lines(whole, evidence) == whole
    assert plain_lines("RankBERT: it introduces a ranker.", evidence) == "it introduces a ranker [1]."


@pytest.mark.parametrize("line", ["Title 1: short", "Note 1 – search", "[1] ranks documents"])
def test_what_only_looks_like_a_heading_stays(answered, line):
    assert plain_lines(f"{line}.", EVIDENCE) == f"{line}."


def test_what_is_said_twice_is_said_once(answered):
    answer = answered(f"{CARRIED} [1]. {CARRIED} [1].")
    assert (answer.text, answer.not_carried) == (f"{CARRIED} [1].", ())


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"The excerpts state that {CARRIED}.", f"{CARRIED} [1]."),
        (f"According to the provided papers, {CARRIED}.", f"{CARRIED} [1]."),
        (f"Excerpt 8 says that {CARRIED}.", f"{CARRIED} [1]."),
        (f"{CARRIED} (excerpt 3).", f"{CARRIED} [1]."),
        (f"{CARRIED}, as stated above.", f"{CARRIED} [1]."),
        (f"{CARRIED}, as shown in Figure 2.", f"{CARRIED} [1]."),
        (f"In paper 1, the excerpt states that {CARRIED}.", f"{CARRIED} [1]."),
        (f"{CARRIED}, as described in paper 1.", f"{CARRIED} [1]."),
        (f"Paper 1: {CARRIED}.", f"{CARRIED} [1]."),
    ],
)
def test_fault_answers_spoke_of_excerpts_and_figures_that_no_reader_sees(answered, written, shown):
    assert answered(written).text == shown


def test_a_paper_is_not_found_for_a_claim_in_which_its_names_are_exchanged(answered):
    true = "ColBERTv2 compresses its vectors, while PLAID prunes candidates with centroids"
    false = "PLAID compresses its vectors, while ColBERTv2 prunes candidates with centroids"
    answer = answered(f"{true}. {false}. {false} [3].")
    assert answer.text == f"{true} [3]."
    assert answer.not_carried == (f"{false}.",)


def test_fault_what_one_system_does_was_said_of_another_papers(answered):
    rag = make_paper(1, "RAG joins the DPR retriever to BART and has 626 million parameters.")
    named = [
        replace(each, paper=replace(each.paper, title=title))
        for each, title in ((rag, "A Survey"), (make_paper(2, "It has many stages."), "SummN: In Stages"))
    ]
    evidence = Evidence(tuple(named))
    rag = evidence.papers[0]
    assert replaces_name("DPR joins the DPR retriever to BART and has 626 million parameters.", texts_of(rag))
    assert not replaces_name("RAG joins DPR to BART.", texts_of(rag))
    assert not replaces_name("The system joins the DPR retriever to BART.", texts_of(rag))
    assert names_another("SummN has 626 million parameters.", [rag], evidence)
    assert not names_another("SummN has 626 million parameters.", evidence.papers, evidence)
    assert not names_another("RAG has 626 million parameters.", [rag], evidence)


SOURCE = "QuReTeC selects terms from the history, and QReCC is a data set of conversations."


@pytest.mark.parametrize(
    ("claim", "source", "is_exchanged"),
    [
        ("QReCC selects terms from the history, and QuReTeC is a data set.", SOURCE, True),
        ("QuReTeC selects terms from the history, and QReCC is a data set.", SOURCE, False),
        ("CombSUM needs scores and RRF needs none.", "RRF needs none; CombSUM needs scores.", False),
        ("BERT is outperformed by GPT4 on all tasks.", "GPT4 outperforms BERT on all tasks.", False),
        ("BERT and GPT4 are compared on all tasks.", "GPT4 and BERT are compared on all tasks.", False),
        ("BERT beats GPT4 on every task.", "GPT4 beats BERT on every task.", True),
        ("BERT is worse than GPT4 here.", "GPT4 is better than BERT here.", False),
        ("BERT beats GPT4 on every task.", "Nothing here names either of them.", False),
        ("It rests on BERT.", "It rests on BERT.", False),
        ("A CPU parser is faster than the GPU one.", "A GPU parser is faster than the CPU one.", True),
        ("It ignores the features and heeds the noise.", "It heeds the features, ignores the noise.", True),
        ("It is slower because it solves a problem.", "Because it solves a problem it is slower.", False),
        ("", "", False),
    ],
)  # fmt: skip
def test_exchanged_words_are_told_from_other_orders(claim, source, is_exchanged):
    assert exchanges_words(claim, [source]) == is_exchanged

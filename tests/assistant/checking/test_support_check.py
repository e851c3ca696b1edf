"""Where citations lead by support, what they recall, and which were needed (ALCE, section 4)."""

import pytest

from assistant.checking.answer import check
from assistant.checking.citations import check_sentences, needs_citation, plain_claim
from assistant.checking.scorer import SupportScorer
from assistant.checking.support import SupportCheck
from assistant.records import Answer, Draft, Evidence, LabelledPaper
from tests.assistant.checking.test_citations import make_paper

EVIDENCE = Evidence(
    (
        make_paper(
            1,
            "We study search. BM25 ranks documents by the frequency of their terms.",
            "The index of 2,000 documents is built in three minutes. Deleting a document takes longer.",
        ),
        make_paper(2, "Dense retrieval encodes text as vectors. It does not need exact words."),
        make_paper(3, "BM25 ranks documents by how frequent their terms are. Fusion adds ranks."),
    )
)


@pytest.fixture(scope="module")
def answered(encoder):
    scorer = SupportScorer(encoder)

    def answer(text: str, evidence: Evidence = EVIDENCE) -> Answer:
        return check(Draft(text), "How?", evidence, (), "these papers", scorer=scorer)

    return answer


def test_a_citation_leads_to_the_sentence_that_supports_it_best(answered):
    (sentence,) = answered("Building the index of 2,000 documents takes three minutes [1].").sentences
    (citation,) = sentence.citations
    assert (citation.passage_id, citation.sentence) == ("p1#1", 0)
    assert citation.evidence == "The index of 2,000 documents is built in three minutes."
    assert citation.support is not None
    assert citation.support > 0.6
    assert citation.support == sentence.support


def test_it_leads_there_in_whatever_order_the_passages_stand(answered):
    paper = EVIDENCE.papers[0]
    turned = Evidence((LabelledPaper(1, paper.paper, paper.passages[::-1]),))
    (sentence,) = answered("The index is built in three minutes [1].", turned).sentences
    assert sentence.citations[0].passage_id == "p1#1"


def test_a_claim_far_from_its_paper_marks_no_sentence(encoder):
    check_of = SupportCheck(EVIDENCE, SupportScorer(encoder))
    (sentence,) = check_of.weigh(check_sentences("Penguins swim far [2].", EVIDENCE)).sentences
    assert sentence.citations[0].sentence is None
    assert sentence.citations[0].support < 0.35


def test_a_paper_without_passages_is_no_citation(answered):
    evidence = Evidence((LabelledPaper(1, EVIDENCE.papers[0].paper, ()), EVIDENCE.papers[1]))
    (sentence,) = answered("Dense retrieval encodes text as vectors [1][2].", evidence).sentences
    assert [citation.label for citation in sentence.citations] == [2]


@pytest.mark.parametrize(
    ("text", "recall", "precision"),
    [
        ("BM25 ranks documents by the frequency of their terms [1].", 1.0, 1.0),
        ("Penguins swim far.", 0.0, None),
        # Either carries the sentence: both are relevant.
        ("BM25 ranks documents by the frequency of their terms [1][3].", 1.0, 1.0),
        # The second does not carry it, and is not needed.
        ("BM25 ranks documents by the frequency of their terms [1][2].", 1.0, 0.5),
        # A paper that was never given is never needed.
        ("BM25 ranks documents by the frequency of their terms [1][9].", 1.0, 0.5),
        ("Dense retrieval encodes text as vectors [2]. Penguins swim far [2].", 0.5, 0.5),
        ("Dense retrieval encodes text as vectors [2]. All penguins swim far.", 0.5, 1.0),
        ("In short: \n\n- Dense retrieval encodes text as vectors [2].", 1.0, 1.0),
        ("Dense retrieval encodes text as vectors [2]. The papers do not say how fast it is.", 1.0, 1.0),
    ],
)
def test_citations_recall_and_precision_are_those_of_alce(answered, text, recall, precision):
    answer = answered(text)
    assert (answer.citation_recall, answer.citation_precision) == (recall, precision)


def test_what_several_labels_carry_is_never_less_than_what_one_does(answered):
    alone, both = (
        answered(f"BM25 ranks documents by the frequency of their terms {labels}.").sentences[0].support
        for labels in ("[1]", "[1][2]")
    )
    assert both >= alone


def test_a_sentence_that_cites_nothing_has_no_support(answered):
    assert answered("All penguins swim far.").sentences[0].support is None


def test_an_answer_is_weighed_alike_each_time(encoder):
    sentences = check_sentences("BM25 ranks documents [1][3]. Fusion adds ranks [3].", EVIDENCE)
    once, again = (SupportCheck(EVIDENCE, SupportScorer(encoder)).weigh(sentences) for _ in range(2))
    assert once == again


@pytest.mark.parametrize(
    ("sentence", "needed"),
    [
        ("Dense retrieval encodes text as vectors.", True),
        ("- **Dense retrieval** encodes text.", True),
        ("It does not need exact words.", True),
        ("The documents are ranked by frequency.", True),
        ("BM25 is not mentioned lightly, it ranks documents.", False),
        ("The main approaches are:", False),
        ("**Dense retrieval**", False),
        ("**Dense retrieval methods today:**", False),
        ("1. **Ranking by terms**", False),
        ("Which of them is faster?", False),
        ("In summary.", False),
        ("The papers do not say which is faster.", False),
        ("None of the passages reports its cost.", False),
        ("The provided sources don't cover training.", False),
        ("Its cost is not reported.", False),
        ("Whether it scales remains open.", False),
        ("It is unclear whether this holds.", False),
    ],
)
def test_only_claims_need_citations(sentence, needed):
    assert needs_citation(sentence, plain_claim(sentence)) is needed


def test_a_cited_claim_needs_no_other_citation(answered):
    cited, uncited = answered("Fusion adds the ranks up [3]. All penguins swim far.").sentences
    assert (cited.needs_citation, uncited.needs_citation) == (False, True)


def test_an_answer_of_which_nothing_holds_is_refused(answered):
    refused = answered("Penguins swim far [1].")
    assert refused.refusal is not None
    assert refused.refusal.reason == "not_carried"
    assert refused.sentences == ()

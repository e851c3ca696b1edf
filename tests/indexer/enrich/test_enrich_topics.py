"""Topics named in papers: from the lists, by the words beside a name, and how strongly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.enrich.phrases import Phrases, tokens
from indexer.enrich.topics import find_topics
from tests.indexer.enrich.enriched_papers import make


def topics(title: str, abstract: str = "", sections: dict[str, str] | None = None) -> dict[str, float]:
    return {topic.key: topic.score for topic in find_topics(*make(title, abstract, sections))}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("We study NER in tweets.", "task:named entity recognition"),
        ("Named-Entity Recognition for all", "task:named entity recognition"),
        ("QUESTION ANSWERING WITHOUT TEARS", "task:question answering"),
        ("Text-to-SQL is hard.", "task:text-to-SQL"),
        ("Two LSTMs and a tree.", "method:LSTM"),
        ("Trained with conditional random fields.", "method:CRF"),
        ("We use the CoNLL-2003 data.", "dataset:CoNLL-2003"),
        ("Tested on CNN/DailyMail.", "dataset:CNN/DailyMail"),
        ("It gains two BLEU points.", "metric:BLEU"),
        ("The F-measure rises.", "metric:F1"),
    ],
)
def test_listed_names_are_met_in_their_forms(text: str, key: str) -> None:
    assert key in topics("On letters", text)


@pytest.mark.parametrize(
    "text",
    [
        "We race to drop the clip of the spider in the newsroom.",
        "A ner and an mt; she sees a crf and a bert.",
        "The transformational grammar of transform faults.",
        "The dataset is large. The corpus too. This benchmark is hard.",
        "We use an NLP dataset and the English corpus and Section 3 corpora.",
        "A Question-Answer corpus and a Spanish-English treebank.",
        "We evaluate on three MMT datasets.",
        "The task is multimodal entity linking (MMEL); an MMEL dataset is missing.",
        "We propose a New Method for IOPNumbers.",
        "We make use of REasoning benchmark ideas.",
    ],
)
def test_ordinary_words_are_no_data_sets(text: str) -> None:
    assert [key for key in topics("On letters", text) if key.startswith("dataset:")] == []


@pytest.mark.parametrize(
    "text", ["A ner and an mt; she sees a crf and a bert.", "The transformational fault.", "It is a ter."]
)
def test_acronyms_are_met_in_their_own_case_only(text: str) -> None:
    assert topics("On letters", text) == {}


@pytest.mark.parametrize(
    ("title", "abstract", "key"),
    [
        ("On letters", "We test on the PostBoxQA dataset.", "dataset:PostBoxQA"),
        ("PostBoxQA: A Dataset of Letters", "Letters are many.", "dataset:PostBoxQA"),
        ("LetSort: Smelling Letters", "We introduce LetSort, a new framework for letters.", "method:LetSort"),
        ("On letters", "We propose a graph-based model (LetSort) for letters.", "method:LetSort"),
        ("On letters", "We present a new evaluation metric called SmellScore.", "metric:SmellScore"),
        ("On letters", "We release LetBank, a treebank of letters.", "dataset:LetBank"),
        ("On letters", "This paper introduces the LetBank corpus.", "dataset:LetBank"),
    ],
)
def test_names_on_no_list_are_told_by_the_words_beside_them(title: str, abstract: str, key: str) -> None:
    assert key in topics(title, abstract)


@pytest.mark.parametrize(
    "abstract",
    [
        "We propose a model for letter word identification (LWI).",
        "We propose to use LetSort.",
        "We describe our work with UNESCO, a body of the UN.",
        "We present results in LaTeX.",
    ],
)
def test_a_name_that_nothing_explains_is_left_out(abstract: str) -> None:
    assert topics("On letters", abstract) == {}


@pytest.mark.parametrize(
    ("title", "abstract", "key"),
    [
        (
            "Cloud Removal by Networks",
            "We train a neural model on tasks such as cloud segmentation and haze classification.",
            "task:cloud segmentation",
        ),
        (
            "Seeing Clouds",
            "Cloud-top estimation is a task for a classifier. We ease cloud-top estimation.",
            "task:cloud-top estimation",
        ),
        (
            "Seeing Clouds",
            "A hazy sky transform (HST) gives the classifier its training data.",
            "method:hazy sky transform",
        ),
        (
            "Seeing Clouds",
            "A neural algorithm reaches a Cloud Cover Score (CCS) of 12.",
            "metric:Cloud Cover Score",
        ),
        ("Seeing Clouds", "Our algorithm wins on two datasets, on SkyQ-7 and MNIST.", "dataset:SkyQ-7"),
        ("Seeing Clouds", "Our neural algorithm reaches 37.9% mAP.", "metric:mean average precision"),
        (
            "Seeing Clouds",
            "A task for one classifier is the style transfer of clouds.",
            "task:style transfer",
        ),
    ],
)
def test_fault_papers_on_vision_named_what_no_list_has(title: str, abstract: str, key: str) -> None:
    assert key in topics(title, abstract)


@pytest.mark.parametrize(
    ("abstract", "key"),
    [
        ("Tumours were examined by immunohistochemistry.", "method:immunohistochemistry"),
        ("We mapped ends by polyA+ RNA-seq of larvae.", "method:RNA-seq"),
        ("Sera were tested in a luciferase reporter assay.", "method:luciferase reporter assay"),
        ("In a randomised controlled trial of 90 dogs fleas fell.", "method:randomised controlled trial"),
        ("Mortality rose, and so did overall survival.", "metric:overall survival"),
        ("Cases were taken from the Norwegian Flea Registry.", "dataset:Norwegian Flea Registry"),
    ],
)
def test_fault_papers_on_medicine_had_no_topics(abstract: str, key: str) -> None:
    assert key in topics("On fleas", abstract)


@pytest.mark.parametrize(
    "abstract",
    [
        "Translation of proteins: gene translation and DNA synthesis. DNA synthesis stops gene translation.",
        "Antigen recognition by cells; the default network (DN) of the brain. Antigen recognition failed.",
        "The recognition of task and training is a new classification, and a new classification is a task.",
    ],
)
def test_nouns_that_mean_something_else_tell_nothing(abstract: str) -> None:
    assert topics("On fleas", abstract) == {}


def test_names_of_another_trade_and_of_two_kinds_are_told_apart() -> None:
    # Style transfer of images was one of texts.
    assert "task:text style transfer" not in topics("On clouds", "Style transfer turns clouds into suns.")
    found = topics(
        "LetSort: A Model of Letters",
        "We propose LetSort, a new model for letters. We use the LetSort benchmark.",
    )
    assert [key for key in found if key.endswith("LetSort")] == ["method:LetSort"]
    body = "The OCR of the cells rose. OCR was measured. OCR fell. The OCR rose. OCR is oxygen consumption."
    assert topics("On cells", "We watch cells.", {"Results": body}) == {}
    phrases = Phrases([("entity", 1), ("entity linking", 2), ("Linking", 3)])
    assert list(phrases.found(tokens("Entity-linking of entities, linking an entity"))) == [2, 3, 1]


def test_title_abstract_and_body_count_by_their_weight_up_to_a_dozen_topics() -> None:
    body = "We parse. Dependency parsing is old. Dependency parsing is hard. Dependency parsing is slow. "
    title = topics("Dependency Parsing of Letters")
    abstract = topics("On letters", "We use dependency parsing.")
    often = topics("On letters", "Dependency parsing is old. We use dependency parsing.", {"Method": body})
    key = "task:dependency parsing"
    assert title[key] > often[key] > abstract[key] > 0
    insisting = "Dependency parsing is old. " * 6
    assert topics("On letters", "Letters.", {"Method": "Dependency parsing is old."}) == {}
    assert topics("On letters", "Letters.", {"Related Work": insisting}) == {}
    assert "task:dependency parsing" in topics("On letters", "Letters.", {"Method": insisting})
    long = "we propose " + "a " * 50_000 + "( " * 50_000 + "we " * 50_000 + "A-" * 50_000
    assert find_topics(*make("X" * 100_000, long)) == ()
    many = (
        "We use BERT, LSTM, GRU, CRF, HMM, SVM, BART, T5 and GPT-2 for question answering, summarization, "
        "machine translation, parsing of text, named entity recognition, entity linking and chunking of "
        "SQuAD, TriviaQA, HotpotQA, CoQA, QuAC, XSum and FEVER with BLEU, ROUGE, METEOR and perplexity."
    )
    found = find_topics(*make("On letters", many))
    assert len(found) == 12
    kinds = [topic.kind for topic in found]
    assert max(kinds.count(kind) for kind in set(kinds)) <= 5
    assert [topic.score for topic in found] == sorted((topic.score for topic in found), reverse=True)


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_text_gives_scores_between_0_and_1(abstract: str, title: str) -> None:
    paper, passages = make(title, abstract, {"Introduction": abstract})
    found = find_topics(paper, passages)
    assert all(0 < topic.score <= 1 and topic.name for topic in found)
    assert len({topic.key for topic in found}) == len(found)

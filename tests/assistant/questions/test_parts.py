"""Questions on parts of one paper, the two sides of comparisons, and subjects."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.questions.comparisons import compared, is_open_comparison
from assistant.questions.intent import request_kind
from assistant.questions.listing import asked_as_list, asked_as_overview
from assistant.questions.names import says_name, squashed
from assistant.questions.parts import asked_part, meant_title
from assistant.questions.subject import subject_stems
from corpus.records import Scope

ONE = Scope(papers=("p",))


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What is this paper about?", "about"),
        ("Summarise it in two sentences", "about"),
        ("How does it work?", "approach"),
        ("What do the authors propose?", "approach"),
        ("How do they solve the problem?", "approach"),
        ("What are its limitations?", "limitations"),
        ("Where does the system fail?", "limitations"),
        ("What data does it use?", "data"),
        ("Which corpora was it tested on?", "data"),
        ("What future work is planned?", "future"),
        ("What do the authors want to do next?", "future"),
        ("Which hyperparameters were used?", "settings"),
        ("What problem does the approach address?", "problem"),
        ("Why was this work done?", "problem"),
        ("What does the method achieve?", "results"),
        ("What do the experiments show?", "results"),
        ("What is new about it?", "contributions"),
        ("Conclusion?", "conclusion"),
        ("How is the system evaluated?", "evaluation"),
    ],
)
def test_the_parts_of_a_paper_are_told_apart(question: str, part: str) -> None:
    found = asked_part(question)
    assert found is not None
    assert (found.name, found.is_all) == (part, True)
    assert request_kind(question, ONE) == "summary"


def test_what_else_a_question_says_narrows_the_part() -> None:
    named = asked_part("What are the limitations of KinyaBERT?")
    assert named and (named.name, named.subject) == ("limitations", ("kinyabert",))
    rate = asked_part("What learning rate was used?")
    assert rate and (rate.name, rate.term) == ("settings", "learning rate")
    assert asked_part("What is the k1 parameter of BM25?") is None
    assert request_kind("Who proposed BERTScore?", Scope()) == "fact"


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("How do SkipBERT and Transkimmer differ?", ("SkipBERT", "Transkimmer")),
        ("What is the difference between HiTab and MultiHiertt?", ("HiTab", "MultiHiertt")),
        ("How is DYLE different from SummN?", ("DYLE", "SummN")),
        ("How does BM25 compare with dense retrieval on long queries?", ("BM25", "dense retrieval")),
        ("Compare the ROUGE metric and BERTScore for summaries", ("ROUGE metric", "BERTScore")),
        ("RAG vs. FiD", ("RAG", "FiD")),
        ("How many papers compare parsers?", None),
        ("What is different about it?", None),
    ],
)
def test_the_two_sides_of_a_comparison_are_read(question: str, sides: tuple[str, str] | None) -> None:
    assert compared(question) == sides
    assert (request_kind(question, Scope()) == "comparison") == (sides is not None)


@pytest.mark.parametrize(
    ("question", "open_one"),
    [
        ("PRIMERA vs DAMEN: how do they differ?", True),
        ("What do RAG and FiD have in common?", True),
        ("Compare RAG and FiD on cost", False),
        ("How does SummN compare with DYLE on long documents?", False),
        ("What is RAG?", False),
    ],
)
def test_a_comparison_in_nothing_particular_is_told_from_one_in_something(
    question: str, open_one: bool
) -> None:
    assert is_open_comparison(question) is open_one


@pytest.mark.parametrize(
    "question",
    [
        "Which papers are about sign language?",
        "papers on sign language",
        "What work is there on sign language?",
        "Is there any research here about sign language?",
        "I am looking for papers that deal with sign language.",
        "What studies have been done on sign language in this collection?",
        "Could you recommend something on sign language, please?",
        "Who works on sign language?",
        "Where can I read about sign language?",
    ],
)
def test_papers_on_a_subject_are_asked_for_in_one_wording(question: str) -> None:
    assert asked_as_list(question) == "Which papers are about sign language?"
    assert request_kind(question, Scope()) == "list"


@pytest.mark.parametrize(
    "question",
    ["Which papers use BERT?", "data sets for sign language", "What is on the list?", "papers", ""],
)
def test_what_is_asked_of_papers_otherwise_stays_as_it_is(question: str) -> None:
    assert asked_as_list(question) == question


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Give me an overview of work on mental health.", "What is known about mental health?"),
        (
            "Could you write a short survey of sarcasm detection, please?",
            "What is known about sarcasm detection?",
        ),
        ("Please give an overview of recent research on Arabic", "What is known about Arabic?"),
        ("Give me an overview of this paper", None),
        ("Give me an overview", None),
        ("What is known about parsing?", None),
    ],
)
def test_fault_the_word_overview_found_papers_that_give_one(question: str, query: str | None) -> None:
    assert asked_as_overview(question) == (query or question)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("ColBERTv2 compresses its vectors.", "ColBERT", True),
        ("A BiLSTM and two LSTMs", "LSTM", True),
        ("We train on MS-MARCO.", "MS MARCO", True),
        ("PLAID prunes candidates, compressed product by product.", "DPR", False),
        ("A RoBERTa encoder", "BERT", False),
        ("One paragraph", "RAG", False),
    ],
)
def test_a_name_is_said_where_words_begin_or_end_not_across_them(text: str, name: str, said: bool) -> None:
    assert says_name(text, squashed(name)) is said


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which papers work on sign language?", "list"),
        ("I am looking for the paper about singing voices.", "list"),
        ("What resources exist for legal NLP?", "list"),
        ("Is there work on cutting a text into its topics?", "list"),
        ("Who works on endangered languages?", "list"),
        ("What are knowledge neurons?", "definition"),
        ("What does LMR tagging mean?", "definition"),
        ("What does LexGLUE test?", "definition"),
        ("What is being done about catastrophic forgetting?", "synthesis"),
        ("How can position bias of a judge be reduced?", "how"),
    ],
)
def test_lists_and_definitions_are_told_from_other_questions(question: str, kind: str) -> None:
    assert request_kind(question, Scope()) == kind


def test_a_paper_is_meant_by_its_title_or_by_the_name_it_begins_with() -> None:
    titles = ["BM25 and beyond", "LinkBERT: Pretraining with Links", "Token Dropping for BERT"]
    assert meant_title("What is LinkBERT about?", titles) == 1
    assert meant_title("What is “Token Dropping for BERT” about?", titles) == 2
    assert meant_title("What is “A Title of None” about?", titles) is None
    assert meant_title("What is parsing about?", titles) is None
    assert meant_title("What is BERT about?", [*titles, "BERT again"]) is None


def test_what_is_asked_is_no_subject() -> None:
    assert subject_stems("Which papers work on the evaluation of parsers?") == {"parser"}


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    asked_part(text)
    compared(text)
    assert request_kind(text, ONE)
    assert meant_title(text, [text, "A title"]) in (None, 0, 1)

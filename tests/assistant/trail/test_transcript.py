import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from assistant.exports.html import to_html
from assistant.exports.markdown import to_markdown
from assistant.exports.registry import CONVERSATION_FORMATS
from assistant.records import (
    Answer,
    AnswerSentence,
    AssistantError,
    Call,
    Citation,
    Conversation,
    Evidence,
    Message,
    NearestPassage,
    Parameters,
    Provenance,
    Refusal,
    Rewrite,
    ScoredPassage,
    StepTime,
    TableVersion,
    Turn,
)
from assistant.trail.transcript import from_json, to_json
from assistant.verdicts import Feedback, WrongCitation
from corpus.records import Scope
from tests.assistant.checking.test_citations import make_paper
from tests.exported_text import exported_text

CANARIES = {"TOGETHER_API_KEY": "tgp_canary_1a2b3c", "PAPER_TRAIL_MODEL_API_KEY": "own_canary_4d5e6f"}
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.floats(0, 1)
counts = st.integers(0, 10**6)
years = st.integers(0, 9999)


@st.composite
def made_turns(draw):
    """Return a turn with everything in it that a turn can hold, each value drawn."""
    text, number, count = (lambda: draw(texts)), (lambda: draw(numbers)), (lambda: draw(counts))
    paper = make_paper(count(), text(), text())
    paper = replace(paper, paper=replace(paper.paper, title=text(), year=draw(st.none() | years)))
    citation = Citation(count(), text(), text(), count(), text(), number(), draw(st.none() | numbers))
    sentence = AnswerSentence(count(), count(), text(), (count(),), (citation,), (text(),))
    nearest = NearestPassage(text(), text(), text(), text(), number())
    refusal = draw(st.none() | st.just(Refusal("language", text(), (nearest,))))
    parameters = draw(st.none() | st.just(Parameters(number(), number(), count())))
    message = Message("user", text())
    tokens = draw(st.none() | counts)
    call = Call("write", text(), (message,), parameters, text(), text(), number(), text(), tokens, tokens)
    return Turn(
        question=text(),
        asked=text(),
        scope=Scope((text(),), (text(),), draw(st.none() | st.tuples(years, years))),
        papers_wanted=draw(st.integers(0, 15)),
        rewrite=Rewrite(text(), text(), (count(),)),
        hits=(ScoredPassage(text(), number(), draw(st.none() | numbers), draw(st.none() | numbers)),),
        evidence=Evidence((paper,)),
        answer=Answer(text(), (sentence,), refusal),
        calls=(call,),
        seconds=(StepTime("check", number()),),
        provenance=Provenance(text(), text(), text(), text(), (TableVersion(text(), count()),)),
        feedback=Feedback(
            draw(st.sampled_from(["good", "bad", None])),
            (WrongCitation(count(), text(), text(), draw(st.none() | counts), text()),),
            text(),
        ),
    )


ids = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
conversations = st.builds(Conversation, ids, texts, st.lists(made_turns(), max_size=2).map(tuple))


@settings(max_examples=50)
@given(conversations)
def test_a_transcript_reads_back_equal(conversation):
    assert from_json(to_json(conversation)) == conversation
    assert to_markdown(conversation).startswith("# ")


@pytest.mark.parametrize("identifier", ["../../../x", "", "a/b", "a\n", "é", "x" * 65])
def test_an_id_that_would_name_another_file_is_refused(identifier):
    with pytest.raises(AssistantError, match="its id is none that Paper Trail gives"):
        from_json(to_json(Conversation(identifier, "t")))


def test_a_real_conversation_reads_back_equal_and_keeps_the_published_schema(conversation, validator):
    text = to_json(conversation)
    assert from_json(text) == conversation
    assert list(validator.iter_errors(json.loads(text))) == []


def test_a_transcript_from_before_papers_had_topics_is_read(conversation):
    document = json.loads(to_json(conversation))
    paper = document["conversation"]["turns"][0]["evidence"]["papers"][0]["paper"]
    for name in ("topics", "aspects", "arxiv_id"):
        del paper[name]
    del document["conversation"]["turns"][0]["scope"]["topics"]
    turn = from_json(json.dumps(document)).turns[0]
    assert (turn.question, turn.answer) == (conversation.turns[0].question, conversation.turns[0].answer)
    assert turn.evidence.papers[0].paper.topics == ()


def test_the_transcript_holds_what_gengo_left_out(conversation):
    turn = json.loads(to_json(conversation))["conversation"]["turns"][0]
    assert turn["rewrite"]["search_query"]
    assert turn["papers_wanted"] == 10
    assert turn["scope"]["collections"] == ["field-notes-retrieval"]
    assert turn["evidence"]["papers"][0]["label"] == 1
    assert turn["evidence"]["papers"][0]["passages"][0]["text"]
    assert all(hit["passage_id"] and hit["score"] >= 0 for hit in turn["hits"])
    assert {"table", "version"} == turn["provenance"]["corpus"][0].keys()
    assert [step["step"] for step in turn["seconds"]] == ["rewrite", "retrieve", "write", "check"]
    assert turn["answer"]["sentences"][0]["citations"][0]["overlap"] == 1.0


def damaged(conversation, change):
    document = json.loads(to_json(conversation))
    change(document)
    return json.dumps(document)


def set_at(*path_and_value):
    *path, last, value = path_and_value

    def change(document):
        for step in path:
            document = document[step]
        document[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_at("format", "another/format"), "not a Paper Trail transcript"),
        (set_at("version", 2), "format version 2"),
        (set_at("version", "1"), "format version 1"),
        (lambda document: document.pop("version"), "format version None"),
        (lambda document: document.pop("conversation"), "holds no conversation"),
        (set_at("conversation", None), "damaged"),
        (set_at("conversation", "turns", 0, "answer", None), "turns.0.answer"),
        (set_at("conversation", "turns", 0, "answer", "text", 5), "turns.0.answer.text"),
        (set_at("conversation", "turns", 0, "rewrite", {}), "turns.0.rewrite"),
        (set_at("conversation", "turns", 1, "answer", "refusal", "reason", "bored"), "reason"),
        (set_at("conversation", "turns", 0, "mood", "good"), "damaged"),
        (set_at("conversation", "turns", 0, "papers_wanted", "10"), "damaged"),
    ],
)
def test_a_damaged_transcript_is_refused_with_what_is_wrong(conversation, change, words):
    with pytest.raises(AssistantError) as caught:
        from_json(damaged(conversation, change))
    assert words in str(caught.value)


@given(st.integers(0, 5000))
def test_a_cut_transcript_is_refused(conversation, length):
    text = to_json(conversation)
    with pytest.raises(AssistantError):
        from_json(text[: min(length, len(text) - 1)])


def test_no_export_holds_a_key(monkeypatch, conversation):
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    exported = "".join(exported_text(export.write(conversation)) for export in CONVERSATION_FORMATS)
    assert not [name for name, value in CANARIES.items() if name in exported or value in exported]


@pytest.fixture(scope="session")
def validator(root):
    schema = json.loads((root / "docs" / "transcript.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@settings(max_examples=25)
@given(conversations)
def test_whatever_is_written_keeps_the_published_schema(validator, conversation):
    assert list(validator.iter_errors(json.loads(to_json(conversation)))) == []


@pytest.mark.parametrize(
    "change",
    [
        set_at("version", 2),
        set_at("conversation", "turns", 0, "mood", "good"),
        set_at("conversation", "turns", 0, "papers_wanted", "10"),
        set_at("conversation", "turns", 1, "answer", "refusal", "reason", "bored"),
        lambda document: document["conversation"].pop("turns") and document["conversation"].pop("id"),
    ],
)
def test_the_published_schema_refuses_what_is_no_transcript(conversation, validator, change):
    assert not validator.is_valid(json.loads(damaged(conversation, change)))


# Fields that the first transcripts did not have, by the record that has them now.
ADDED_SINCE = {
    "rewrite": ("kind", "edited"),
    "hits": ("sentence",),
    "sentences": ("needs_citation", "support"),
    "citations": ("support",),
    "answer": ("citation_recall", "citation_precision", "problems"),
    "refusal": ("covers",),
    "calls": ("price", "attempts", "first_token_seconds", "left_out", "problem"),
    "parameters": ("top_k", "repetition_penalty"),
    "provenance": ("encoder_runtime", "scorer"),
    "turns": ("drafts", "feedback", "in_context", "passages", "second_searches"),
    "papers": ("found_for",),
}


def as_first_written(value, name=""):
    """Return a transcript's document as the first version of Paper Trail wrote it."""
    if isinstance(value, list):
        return [as_first_written(part, name) for part in value]
    if not isinstance(value, dict):
        return value
    left_out = ADDED_SINCE.get(name, ())
    return {key: as_first_written(part, key) for key, part in value.items() if key not in left_out}


def test_a_transcript_of_the_first_version_is_read(conversation, validator):
    document = as_first_written(json.loads(to_json(conversation)))
    assert "scorer" not in json.dumps(document)
    validator.validate(document)
    read = from_json(json.dumps(document))
    first, before = read.turns[0], conversation.turns[0]
    assert (first.question, first.answer.text, first.hits[0].score) == (
        before.question,
        before.answer.text,
        before.hits[0].score,
    )
    assert (first.rewrite.kind, first.drafts, first.provenance.scorer) == ("synthesis", 1, "")
    assert from_json(to_json(read)) == read
    assert to_markdown(read)
    assert to_html(read)


HOSTILE = (
    "![pixel](http://evil.example/p.png) [click](javascript:alert(1)) <img src=x onerror=alert(1)> "
    "<b>bold</b> # heading ``` fence ~~~ **strong** _em_ | table | http://evil.example www.evil.example "
    "a@evil.example [ref]: http://evil.example &lt;script&gt; $x$ \\[ 1. one - two > three"
)


def hostile(turn):
    text = (
        f"{HOSTILE}\n# {HOSTILE}\n- {HOSTILE}\n1. {HOSTILE}\n> {HOSTILE}\n```\n{HOSTILE}\n===\n---\n{HOSTILE}"
    )
    paper = make_paper(1, text)
    paper = replace(paper, paper=replace(paper.paper, title=HOSTILE, venue=HOSTILE, url=HOSTILE, id=HOSTILE))
    sentence = turn.answer.sentences[0]
    citation = replace(sentence.citations[0], label=1, claim=HOSTILE, evidence=HOSTILE, passage_id=HOSTILE)
    sentence = replace(sentence, claim=HOSTILE, labels=(1,), citations=(citation,), unknown_labels=(HOSTILE,))
    return replace(
        turn,
        question=HOSTILE,
        asked=HOSTILE,
        rewrite=replace(turn.rewrite, search_query=HOSTILE),
        evidence=Evidence((paper,)),
        answer=replace(turn.answer, text=f"{text} [1]", sentences=(sentence,)),
        calls=tuple(
            replace(call, model=HOSTILE, reply=f"````\n{HOSTILE}", finish_reason=HOSTILE)
            for call in turn.calls
        ),
        provenance=Provenance(
            HOSTILE,
            HOSTILE,
            HOSTILE,
            HOSTILE,
            tuple(replace(table, table=HOSTILE) for table in turn.provenance.corpus),
        ),
    )


def test_hostile_text_does_nothing_in_exported_markdown(conversation):
    answered, refused = conversation.turns
    nearest = replace(refused.answer.refusal.nearest[0], title=HOSTILE, text=HOSTILE, passage_id=HOSTILE)
    refusal = replace(refused.answer.refusal, message=HOSTILE, nearest=(nearest,))
    turns = (hostile(answered), replace(refused, answer=replace(refused.answer, refusal=refusal)))
    exported = to_markdown(Conversation("c", HOSTILE, turns))
    tokens = MarkdownIt("commonmark", {"linkify": False}).enable("table").parse(exported)
    kinds = [child.type for token in tokens for child in (token, *(token.children or ()))]
    assert not {"link_open", "image", "html_block", "html_inline", "table_open", "hr"} & set(kinds)
    # Ours: the title, two turns, and the parts of each.
    assert kinds.count("heading_open") == 3 + 4 + 2
    text = "".join(child.content for token in tokens for child in token.children or ())
    assert "evil.example" in text
    # Readers that make links of bare addresses look at the source, where each is broken by a backslash.
    source = re.sub(r"(?s)(`{3,}).*?\1", "", exported)
    assert not re.search(r"(?<!\\)(?:://|(?<=www)\.)evil", source)
    assert text.count("[1]") >= 3


def test_an_answers_lists_stay_lists_and_its_labels_readable(conversation):
    turn = conversation.turns[0]
    turn = replace(
        turn, answer=replace(turn.answer, text="It says:\n\n- one [1]\n- two [2]\n\n3. three [9?]")
    )
    exported = to_markdown(Conversation("c", "t", (turn,)))
    html = MarkdownIt("commonmark").render(exported)
    assert "<li>one [1]</li>" in html
    assert "<p>3. three [9?]</p>" in html


def test_markdown_names_what_is_weak_unknown_or_uncited(conversation):
    turn = conversation.turns[0]
    first, second, *_ = turn.answer.sentences
    weak = replace(
        first, citations=(replace(first.citations[0], overlap=0.2, support=0.5),), unknown_labels=("9",)
    )
    bare = replace(second, labels=(), citations=(), needs_citation=True)
    other = replace(bare, needs_citation=False)
    answer = replace(
        turn.answer,
        sentences=(weak, bare, other),
        problems=("interrupted",),
        citation_recall=0.5,
        citation_precision=1.0,
    )
    exported = to_markdown(Conversation("c", "t", (replace(turn, answer=answer),)))
    assert "overlap 0.20 weak, support 0.50 partial" in exported
    assert "names no paper that was given" in exported
    assert "makes a claim and cites nothing" in exported
    assert "    - cites nothing" in exported
    assert "The reply ended in the middle" in exported
    assert "50% of the claims are supported by what they cite" in exported


def asked_in_full(turn):
    """Return a turn as if it had been asked with everything that can be said of a call."""
    call = Call(
        step="write",
        model="own",
        messages=(Message("system", "Be <brief>."), Message("user", "Why?")),
        parameters=Parameters(top_k=5, repetition_penalty=1.1),
        reply="Because.",
        started="",
        seconds=1.5,
        finish_reason="length",
        prompt_tokens=1200,
        completion_tokens=30,
        price=0.0021,
        attempts=2,
        first_token_seconds=0.4,
        left_out=("c/1#7",),
        problem="The server fell silent.",
    )
    rewrite = replace(turn.rewrite, edited=True, used_turns=(0,), kind="fact")
    return replace(turn, calls=(call,), drafts=3, rewrite=rewrite)


SAID_OF_IT = (
    "question of fact, the reader's own query, drawing on turn 1",
    "temperature 0.2, top-p 0.9, top-k 5, repetition penalty 1.1, at most 700 tokens",
    "1,200 tokens sent, 30 received",
    "$0.0021",
    "sent 2 times",
    "first word after 0.40 s",
    "left out: c/1#7",
    "The server fell silent.",
    "best of 3 drafts",
    "Be <brief>.",
    "Because.",
)


def test_markdown_says_how_a_turn_was_asked_and_what_its_calls_took(conversation):
    source = to_markdown(Conversation("c", "t", (asked_in_full(conversation.turns[0]),)))
    text = re.sub(r"\\(.)", r"\1", source)
    for said in (*SAID_OF_IT, "collections field-notes-retrieval"):
        assert said in text, said


@settings(max_examples=1)
@given(made_turns())
def test_three_thousand_digits_in_a_title_of_a_trail_do_not_freeze_the_server(any_turn):
    labelled = make_paper(1, "We search.")
    labelled = replace(labelled, paper=replace(labelled.paper, title="1" * 3_000))
    turn = replace(any_turn, evidence=Evidence((labelled,)))
    with pytest.raises(AssistantError, match="its title has 3,000 characters, and at most 2,000 are read"):
        from_json(to_json(Conversation("c", "t", (turn,))))

"""Conversations done again: kept, exported, deleted, imported and replayed through the command line."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import get_args

import pytest

from assistant.annotations import Annotation
from assistant.exports.registry import ConversationFormatName
from assistant.records import AskOptions, Conversation
from assistant.trail.replay import Replayer
from assistant.trail.transcript import from_json, to_json
from corpus.errors import CorpusError
from corpus.records import Scope
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from tests.assistant.asked_questions import NOT_ANSWERED, QUESTION
from tests.assistant.trail.test_transcript import as_first_written
from tests.exported_text import exported_text
from tests.small_corpus import add, make_paper, write_corpus
from tests.standin_chat import KEY_CANARY, StandinChat, cut_off, reply

# The rewritten query and the answer of six turns, with what models do to labels and to endings.
SIX_TURNS = (
    (QUESTION, reply("reciprocal rank fusion"), reply("Rank fusion adds ranks and needs no training [1].")),
    (
        "What are its limitations?",
        reply("limits of rank fusion"),
        reply("It loses scores [1], [2]. See [99]."),
    ),
    (
        "And its history?",
        reply("history of rank fusion"),
        reply("It is old [PUID:1]. Nothing is cited here."),
    ),
    ("Is BM25 strong?", reply("BM25 baseline"), cut_off("BM25 is a strong baseline [1]. It also [2")),
    ("How are answers checked?", reply("answer checking"), reply("- By people [1]\n- By models [2][3]")),
    ("What is a fault?", reply('Query: "faults"'), reply("No paper says.", finish_reason="length")),
)


def test_six_turns_with_a_model_exported_deleted_imported_and_replayed_are_equal(run, own_model, tmp_path):
    # The first question stands for itself, and no model is asked for a query.
    behaviours = [behaviour for _, *both in SIX_TURNS for behaviour in both][1:]
    identifier = "new"
    with StandinChat(*behaviours) as server:
        own_model(server)
        for question, *_ in SIX_TURNS:
            done = run("ask", question, "--conversation", identifier, "--generator", "own", "--json")
            assert done.exit_code == 0, done.stderr
            identifier = json.loads(done.stdout)["conversation"]
        assert len(server.requests) == 11
        file = tmp_path / "six.json"
        assert run("export", identifier, "-o", str(file)).exit_code == 0
        exported = from_json(file.read_text(encoding="utf-8"))
        assert [turn.question for turn in exported.turns] == [question for question, *_ in SIX_TURNS]

        assert run("conversations", "delete", identifier).exit_code == 0
        assert "no conversation" in run("conversations", "show", identifier).stderr
        imported = json.loads(run("conversations", "import", str(file), "--json").stdout)
        assert imported == {"id": identifier, "title": exported.title, "turns": 6}
        again = tmp_path / "again.json"
        assert run("conversations", "export", identifier, "-o", str(again)).exit_code == 0
        assert from_json(again.read_text(encoding="utf-8")) == exported

        replayed = run("replay", identifier, "--json")
        assert len(server.requests) == 11, "a replay asks no model"
    document = json.loads(replayed.stdout)
    assert document["equal"], document
    assert [[step["outcome"] for step in turn["steps"]] for turn in document["turns"]] == [["equal"] * 4] * 6
    assert replayed.exit_code == 0


def test_no_file_of_a_conversation_and_no_line_about_it_holds_a_key(run, own_model, tmp_path):
    answers = [behaviour for _, *both in SIX_TURNS[:2] for behaviour in both][1:]
    with StandinChat(*answers) as server:
        own_model(server)
        told = [run("ask", QUESTION, "--conversation", "new", "--generator", "own", "--json")]
        identifier = json.loads(told[0].stdout)["conversation"]
        told.append(run("ask", "And then?", "--conversation", identifier, "--generator", "own"))
        files = [tmp_path / f"exported.{form}" for form in get_args(ConversationFormatName)]
        told += [run("export", identifier, "--output", str(file)) for file in files]
        told += [run("replay", identifier), run("replay", identifier, "--json")]
        told += [run("conversations", "show", identifier), run("conversations", "list")]
    assert [done.exit_code for done in told] == [0] * len(told)
    held = [done.stdout + done.stderr for done in told]
    held += [path.read_bytes().decode("latin-1") for path in tmp_path.glob("conversations.sqlite*")]
    assert len(held) > len(told)
    held += [exported_text(file.read_bytes()) for file in files]
    assert not [text for text in held if KEY_CANARY in text]


@pytest.fixture(scope="session")
def replayer(demo_corpus, encoder):
    def corpus_at(versions):
        if dict(versions) != dict(demo_corpus.manifest.versions):
            raise CorpusError("Version 99 no longer exists.")
        return demo_corpus

    return Replayer(encoder, corpus_at)


@pytest.fixture(scope="session")
def replayed(replayer):
    """Return a function that replays turns: its first result, and its differences by step."""

    def replay(*turns):
        *_, last = replayer.replay(Conversation("c", "t", turns))
        return last, {step.step: step.differences for step in last.steps if step.outcome == "different"}

    return replay


def test_a_models_turn_is_equal_with_and_without_what_stands_beside_its_passages(
    assistant_over, encoder, tmp_path
):
    subjects = "tides moss glass copper violins sleet canals wool beacons ferns saddles".split()
    long = [
        f"The chapter on {subject} tells who wrote of {subject} first and what became of it. " * 6
        for subject in subjects
    ]
    short = "Queries are slow on spinning disks because each has to move its head."
    texts = ["Where indices are kept. They are kept in memory or on disks.", *long[:6], short, *long[6:]]
    write_corpus(tmp_path, encoder, {make_paper("c", "storage"): texts})
    corpus = Corpus.open(tmp_path, encoder)
    sizes = []
    for in_context in (True, False):
        with StandinChat(reply("Queries are slow on spinning disks [1].")) as server:
            asked = assistant_over(server, corpus=corpus)
            *_, told = asked.ask(
                "What makes queries slow on spinning disks?", (), AskOptions(in_context=in_context)
            )
        replayer = Replayer(encoder, lambda _: corpus)
        *_, last = replayer.replay(Conversation("c", "t", (told.turn,)))
        assert last.is_equal
        sizes.append(sum(len(paper.passages) for paper in told.turn.evidence.papers))
    assert sizes[0] > sizes[1]


def test_an_extractive_turn_is_equal(turn, replayed):
    last, differences = replayed(turn)
    assert (last.is_equal, differences, last.notes, last.impossible) == (True, {}, (), "")
    assert [step.step for step in last.steps] == ["rewrite", "retrieve", "evidence", "check"]


def test_what_a_reader_notes_on_papers_changes_nothing_of_a_replay(turn, replayer):
    paper = turn.evidence.papers[0].paper
    note = Annotation("n", paper.id, paper.title, note="Not what it says.")
    *_, last = replayer.replay(Conversation("c", "t", (turn,), (note,)))
    assert last.is_equal


def with_sentence(turn, **changes):
    first, *rest = turn.answer.sentences
    return replace(turn, answer=replace(turn.answer, sentences=(replace(first, **changes), *rest)))


def with_citation(turn, **changes):
    first, *rest = turn.answer.sentences[0].citations
    return with_sentence(turn, citations=(replace(first, **changes), *rest))


def with_paper(turn, **changes):
    first, *rest = turn.evidence.papers
    return replace(turn, evidence=replace(turn.evidence, papers=(replace(first, **changes), *rest)))


def with_hits(turn, hits):
    return replace(turn, hits=tuple(hits))


@pytest.mark.parametrize(
    ("change", "step", "words"),
    [
        (
            lambda turn: replace(turn, rewrite=replace(turn.rewrite, search_query="other")),
            "rewrite",
            "search_query: was 'other'",
        ),
        (
            lambda turn: with_hits(turn, turn.hits[1:]),
            "retrieve",
            "is found now",
        ),
        (
            lambda turn: with_hits(turn, (*turn.hits, replace(turn.hits[0], passage_id="c/x#1"))),
            "retrieve",
            "c/x#1 is no longer found",
        ),
        (
            lambda turn: with_hits(turn, (replace(turn.hits[0], score=0.25), *turn.hits[1:])),
            "retrieve",
            "score: was 0.2500, now",
        ),
        (lambda turn: with_hits(turn, reversed(turn.hits)), "retrieve", "in another order"),
        (lambda turn: with_paper(turn, label=9), "evidence", "[9]: was"),
        (
            lambda turn: with_paper(turn, passages=turn.evidence.papers[0].passages[1:]),
            "evidence",
            "[1], passages",
        ),
        (lambda turn: with_sentence(turn, labels=(3,)), "check", "sentences, 1, labels, 1: was 3, now"),
        (lambda turn: with_citation(turn, overlap=0.5), "check", "overlap: was 0.5000, now"),
        (lambda turn: with_citation(turn, sentence=None), "check", "sentence: was nothing, now"),
        (lambda turn: with_citation(turn, passage_id="c/x#1"), "check", "passage_id: was 'c/x#1'"),
        (
            lambda turn: replace(
                turn,
                calls=tuple(
                    replace(call, reply="Something else [1].") if call.step == "write" else call
                    for call in turn.calls
                ),
            ),
            "check",
            "text: was",
        ),
    ],
)
def test_what_is_not_equal_is_said_with_its_step(turn, replayed, change, step, words):
    last, differences = replayed(change(turn))
    assert not last.is_equal
    assert differences.keys() == {step}
    assert words in "\n".join(differences[step])


def test_a_turn_of_the_first_version_is_replayed(turn, extractive_assistant, replayer):
    # The passages that the first version read of each paper.
    asked = (
        extractive_assistant.ask(question, (), AskOptions(passages=(3,)))
        for question in (turn.question, NOT_ANSWERED)
    )
    turns = tuple(list(events)[-1].turn for events in asked)
    document = as_first_written(json.loads(to_json(Conversation("c", "t", turns))))
    for replay in replayer.replay(from_json(json.dumps(document))):
        assert replay.is_equal, replay
        assert "support was scored by nothing" in replay.notes[0]


@pytest.mark.parametrize("score", [1e-5, -1e-5])
def test_scores_that_differ_by_rounding_are_equal(turn, replayed, score):
    near = with_citation(turn, overlap=turn.answer.sentences[0].citations[0].overlap + score)
    near = with_hits(near, (replace(hit, score=hit.score + score) for hit in near.hits))
    assert replayed(near)[0].is_equal


def test_scores_of_another_scorer_are_not_compared(turn, replayed):
    other = with_citation(turn, support=0.123)
    other = replace(other, provenance=replace(other.provenance, scorer="another scorer"))
    last, _ = replayed(other)
    assert last.is_equal
    assert "support was scored by another scorer" in last.notes[0]


def test_a_refusal_is_equal_and_one_that_would_now_be_answered_is_not(turn, ask_demo, replayed):
    refused = ask_demo(NOT_ANSWERED)
    assert replayed(refused)[0].is_equal
    never_written = replace(turn, answer=refused.answer, calls=turn.calls[:1])
    assert set(replayed(never_written)[1]) == {"check"}


def test_the_history_is_that_of_the_record(turn, extractive_assistant, replayed):
    *_, last = extractive_assistant.ask("What are its limitations?", (turn,), AskOptions())
    assert last.turn.rewrite.used_turns == (0,)
    assert replayed(turn, last.turn)[0].is_equal
    assert "This turn leaned on turns that are not in this file." in replayed(last.turn)[0].impossible


def test_the_trail_of_a_follow_up_from_the_terminal_is_the_whole_conversation(run, tmp_path):
    begun = json.loads(run("ask", QUESTION, "--conversation", "new", "--json").stdout)["conversation"]
    file = tmp_path / "t.json"
    run("ask", "What are its limitations?", "--conversation", begun, "--trail", str(file))
    trail = from_json(file.read_text(encoding="utf-8"))
    assert (trail.id, len(trail.turns), trail.turns[1].rewrite.used_turns) == (begun, 2, (0,))
    assert run("replay", str(file)).exit_code == 0
    run("export", begun, "--turn", "2", "-o", str(file))
    done = run("replay", str(file))
    assert (done.exit_code, "0 of 1 turn is equal." in done.stdout) == (2, True)


def test_of_several_drafts_the_best_is_checked_again(turn, replayed):
    written = next(call for call in turn.calls if call.step == "write")
    worse = replace(written, reply="Nothing of this is cited.")
    several = replace(turn, calls=(turn.calls[0], worse, written, worse), drafts=3)
    assert replayed(several)[0].is_equal


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"encoder": "other-encoder"}, "recorded with the encoder 'other-encoder' in onnx-int8"),
        ({"encoder_runtime": "torch"}, "PAPER_TRAIL_ENCODER_RUNTIME=torch"),
        ({"encoder_sha256": "0"}, "other weights of the encoder"),
        ({"corpus": ()}, "no longer exists"),
    ],
)
def test_what_cannot_be_replayed_is_said_and_costs_its_turn(turn, replayer, change, words):
    other = replace(turn, provenance=replace(turn.provenance, **change))
    first, second = replayer.replay(Conversation("c", "t", (other, turn)))
    assert words in first.impossible
    assert not first.is_equal
    assert second.is_equal


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scope": Scope(collections=("gone",))}, "no collection 'gone'"),
        ({"scope": Scope(papers=("gone",))}, "no paper 'gone'"),
        ({"scope": Scope(topics=("no key",))}, "Its scope cannot be read"),
        ({"papers_wanted": 10**9}, "number of papers"),
        ({"passages": ()}, "numbers of passages"),
        ({"passages": (3, 10**9)}, "numbers of passages"),
        ({"question": " "}, "The question is empty"),
    ],
)
def test_a_hostile_or_outdated_record_is_refused_in_words(turn, replayed, change, words):
    last, _ = replayed(replace(turn, **change))
    assert words in last.impossible


def test_the_status_tells_equal_different_and_impossible_apart(run, turn, tmp_path):
    def status(*turns):
        file = tmp_path / "t.json"
        file.write_text(to_json(Conversation("c", "t", turns)), encoding="utf-8")
        done = run("replay", str(file))
        as_json = json.loads(run("replay", str(file), "--json").stdout)
        assert as_json.get("equal", False) == (done.exit_code == 0)
        return done.exit_code, done.stdout + done.stderr

    code, text = status()
    assert (code, "holds no turns" in text) == (2, True)
    code, text = status(turn)
    assert (code, text.count(" equal\n")) == (0, 4)
    code, text = status(turn, with_citation(turn, overlap=0.5))
    assert code == 1
    assert "check     different" in text
    assert "1 of 2 turns is equal." in text
    code, text = status(turn, replace(turn, provenance=replace(turn.provenance, encoder="other")))
    assert code == 2
    assert "cannot be replayed: It was recorded with the encoder 'other'" in text


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "not JSON"), (b"{}", "not a Paper Trail transcript"), (b"\xff\xfe", "is no text")],
)
def test_a_file_that_is_no_transcript_is_one_sentence_and_a_status(run, tmp_path, content, words):
    file = tmp_path / "t.json"
    file.write_bytes(content)
    for command in (["replay"], ["export"], ["conversations", "import"]):
        done = run(*command, str(file), "--json")
        assert done.exit_code == 2
        assert words in json.loads(done.stdout)["error"]
    assert "There is no file 'no-such'" in run("replay", "no-such").stderr


def test_generators_can_be_asked_again(run, own_model, tmp_path):
    file = tmp_path / "t.json"
    same = reply("It needs no training [1].")
    with StandinChat(same, same, reply("It needs a lot of training [1].")) as server:
        own_model(server)
        asked = ("ask", QUESTION, "--generator", "own", "--temperature", "0.9", "--trail", str(file))
        assert run(*asked).exit_code == 0
        assert run("replay", str(file), "--generate").exit_code == 0
        done = run("replay", str(file), "--generate")
        assert {request.body["temperature"] for request in server.requests} == {0.9}
    assert done.exit_code == 1
    assert "was 'It needs no training [1].', now 'It needs a lot of training [1].'" in done.stdout


FUSION = (
    "Reciprocal rank fusion adds the reciprocals of ranks and needs no training data.",
    "A weighted sum of scores needs judged queries to set its weights.",
)


def test_a_corpus_that_has_changed_since_is_replayed_at_its_recorded_version(
    run, monkeypatch, tmp_path, encoder
):
    home, file = tmp_path / "home", tmp_path / "t.json"
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(home))
    first = make_paper("notes", "fusion", title="Reciprocal rank fusion")
    write_corpus(home / "corpus", encoder, {first: FUSION})
    asked = run("ask", "What does reciprocal rank fusion need?", "--trail", str(file), "--json")
    assert len(json.loads(asked.stdout)["papers"]) == 1

    writer = CorpusWriter(home / "corpus", encoder)
    add(writer, encoder, {make_paper("notes", "more", title="More on rank fusion"): FUSION[::-1]})
    writer.publish()
    again = run("ask", "What does reciprocal rank fusion need?", "--json")
    assert len(json.loads(again.stdout)["papers"]) == 2
    done = run("replay", str(file))
    assert (done.exit_code, done.stdout.count(" equal\n")) == (0, 4), done.stdout

    writer.compact(timedelta(milliseconds=1))
    done = run("replay", str(file), "--json")
    assert done.exit_code == 2
    assert "no longer kept as it was" in json.loads(done.stdout)["turns"][0]["impossible"]


@pytest.mark.parametrize("version", [-1, 0, 10**30])
def test_a_version_that_no_table_can_have_is_refused_in_words(run, turn, tmp_path, version):
    corpus = tuple(replace(entry, version=version) for entry in turn.provenance.corpus)
    file = tmp_path / "t.json"
    hostile = replace(turn, provenance=replace(turn.provenance, corpus=corpus))
    file.write_text(to_json(Conversation("c", "t", (hostile,))), encoding="utf-8")
    done = run("replay", str(file))
    assert done.exit_code == 2
    assert "no longer kept as it was" in done.stdout or "a number that there cannot be" in done.stderr

"""Published dialogues, in small files of the forms of RefGPT and WebCPM, and the histories made with them."""

import json
import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from corpus.encoders.base import Encoder
from evaluation.input_files import EvaluationError
from tests.standin_chat import StandinChat
from tests.standin_writer import quote_material, write_documents
from tests.training.test_train_data import make, read
from training.truthreader.documents import make_document, read_dialogues
from training.truthreader.examples import Example, Library, Pair, labels_by_score
from training.truthreader.histories import NEAREST, Histories

OWLS = (
    "Barn owls hunt over meadows at night and nest in old barns. A pair raises four to six young in a good "
    "year. Their hearing finds a vole under ten centimetres of snow. Ringed owls of the Vechta study lived "
    "three years on average, and the oldest of them reached 17 years."
)
TURNS = (
    ("Where do barn owls nest?", "Barn owls nest in old barns."),
    ("How many young do they raise?", "A pair raises four to six young in a good year."),
)
LIGHTHOUSE = (
    "灯塔建于1908年，高三十一米，位于港口的北侧。守塔人每天傍晚步行上塔点灯。"
    "1962年灯塔改用电灯，守塔人随后离开。"
)
QUESTIONS = (
    ("灯塔是哪一年建成的？", "灯塔建于1908年，位于港口的北侧。"),
    ("后来怎么样了？", "1962年灯塔改用电灯。"),
)


def told(form: str, turns: tuple[tuple[str, str], ...]) -> str:
    """Write a dialogue with the role markers of a form."""
    lines = []
    for number, (question, answer) in enumerate(turns, start=1):
        human, assistant = form.replace("#", str(number)).split("|")
        lines += [f"{human}{question}", f"{assistant}{answer}"]
    return "\n".join(lines)


def refgpt(reference: str, dialogue: str, **more: str) -> dict[str, str]:
    return {"reference": reference, "dialogue": dialogue, **more}


def webcpm(*facts: str) -> dict[str, object]:
    digests = [
        {"datas": [{"title": "2023-01-05 10:12:31", "desc": fact, "chunkIndex": 0}], "checked": False}
        for fact in facts
    ]
    answer = "灯塔建于1908年，位于港口的北侧【1】。1962年灯塔改用电灯<1>。"
    return {"question": "请介绍一下灯塔的历史。", "answer": answer, "digests": digests, "actions": []}


def write_lines(path: Path, *records: dict) -> Path:
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records))
    return path


@pytest.mark.parametrize(
    ("dialogue", "expected"),
    [
        (told("<user>: |<assistant>: ", TURNS), TURNS),
        (f"<start_chat>{told('<Human #>:|<Assistant #>:', TURNS)}<end_chat>", TURNS),
        (told("<human #>：|<assistant #>：", QUESTIONS), QUESTIONS),
        (told("Human：|Assistant：", QUESTIONS), QUESTIONS),
        (told("Human(用户): |Assistant: ", QUESTIONS), QUESTIONS),
        ("<user>: Where?\n<user>: There?\n<assistant>: Here.", ()),
        ("<user>: Where do barn owls nest?", ()),
        ("Barn owls nest in old barns.", ()),
    ],
)
def test_roles_of_every_version_of_refgpt_are_read(
    tmp_path: Path, dialogue: str, expected: tuple[tuple[str, str], ...]
) -> None:
    (found,) = read_dialogues(write_lines(tmp_path / "a.json", refgpt(OWLS, dialogue)), None, 0)
    assert (found.source, found.turns) == ("refgpt", expected)


@pytest.mark.parametrize("form", ["parquet", "list", "split"])
def test_other_published_forms_are_read(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"published.{form}"
    if form == "parquet":
        row = refgpt(OWLS, told("<user>: |<assistant>: ", TURNS), language="en", type="fact")
        parquet.write_table(pa.Table.from_pylist([row] * 5), path)
    else:
        records = [webcpm(LIGHTHOUSE, " ", OWLS)] * 5
        path.write_text(json.dumps(records if form == "list" else {"data": records}, indent=4))
    found = read_dialogues(path, 3, 0)
    assert len(found) == 3
    if form != "parquet":
        assert found[0].turns[0][1] == "灯塔建于1908年，位于港口的北侧。1962年灯塔改用电灯。"
        assert len(found[0].documents) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "cannot be read"), ('{"reference": "a"}', "record 1"), ("[1]", "record 1"), ("", "no dialogue")],
)
def test_broken_files_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(EvaluationError, match=said):
        read_dialogues(path, None, 0)


def test_dialogues_become_rows_in_their_language_after_their_own_turns(tmp_path: Path) -> None:
    english = write_lines(tmp_path / "en.jsonl", refgpt(OWLS, told("<user>: |<assistant>: ", TURNS)))
    chinese = write_lines(tmp_path / "zh.json", refgpt(LIGHTHOUSE, told("Human：|Assistant：", QUESTIONS)))
    facts = tmp_path / "webcpm.json"
    facts.write_text(json.dumps([webcpm(LIGHTHOUSE)]))
    options = [word for path in (english, chinese, facts) for word in ("--dialogues", str(path))]
    documents = write_documents(tmp_path / "documents.jsonl")
    with StandinChat(default=quote_material) as server:
        result, out = make(tmp_path, documents, server, "rows", *options, "--limit", "3")
    assert result.exit_code == 0, result.output
    rows = [row for row in read(out) if row["source"] != "documents" and row["change"] == "shuffled"]
    assert [(row["source"], row["language"]) for row in rows] == [
        ("refgpt", "en"),
        ("refgpt", "en"),
        ("refgpt", "zh"),
        ("refgpt", "zh"),
        ("webcpm", "zh"),
    ]
    for row, (question, _) in zip((rows[1], rows[3]), (TURNS[0], QUESTIONS[0]), strict=True):
        assert row["history_type"] in ("relevant", "both")
        assert question in row["messages"][1]["content"]
    counts = json.loads(out.with_suffix(".statistics.json").read_text())
    assert counts["table_5"][3]["examples"] == {"zh": 1}
    assert counts["table_5"][4]["examples"] == {"en": 2, "zh": 2}


def test_a_turn_that_is_no_example_is_still_what_was_said_before(tmp_path: Path) -> None:
    turns = (("Do you like birds?", "Very much, thank you for asking me."), TURNS[0])
    told_before = write_lines(tmp_path / "a.jsonl", refgpt(OWLS, told("<user>: |<assistant>: ", turns)))
    documents = write_documents(tmp_path / "documents.jsonl")
    with StandinChat(default=quote_material) as server:
        _, out = make(tmp_path, documents, server, "rows", "--dialogues", str(told_before), "--limit", "2")
    (row,) = (row for row in read(out) if row["source"] == "refgpt" and row["change"] == "shuffled")
    assert all(said in row["messages"][1]["content"] for said in turns[0])


def _sessions(subjects: list[str]) -> list[Example]:
    """Make a document on each subject, with a question and what follows it up."""
    made = []
    for subject in subjects:
        paper, passages = make_document("x", subject.replace(" ", "-"), subject, f"{subject} is on record.")
        library = Library({paper.id: paper}, passages)
        first = Pair(f"{subject}:1", "fact", f"What is known of {subject}?", passages[1].text, passages[1:])
        second = Pair(f"{subject}:2", "fact", "Is it on record?", passages[1].text, passages[1:], first)
        found = (library.make_example(pair, (passages[1].text,), labels_by_score) for pair in (first, second))
        made += [example for example in found if example]
    return made


def test_irrelevant_histories_are_near_sessions_of_other_documents(encoder: Encoder) -> None:
    birds = "barn owls,tawny owls,hawks,falcons,eagles,kites,buzzards,ravens,crows,kestrels,long-eared owls"
    made = _sessions([*birds.split(","), "tax law", "bank credit"])
    assert birds.count(",") == NEAREST
    histories = Histories(made, encoder)
    drawn = [histories.extend(made[0], random.Random(seed)) for seed in range(200)]
    lengths = {len(example.history) for example in drawn if example}
    asked = {turn.pair.question for example in drawn if example for turn in example.history}
    assert lengths == {0, 2, 4, 6}
    assert asked == {f"What is known of {bird}?" for bird in birds.split(",")[1:]} | {"Is it on record?"}


def test_a_follow_up_comes_after_its_own_turn_and_at_most_one_session(encoder: Encoder) -> None:
    made = _sessions(["barn owls", "hawks", "ravens", "kites"])
    histories = Histories(made, encoder)
    drawn = [histories.extend(made[1], random.Random(seed)) for seed in range(200)]
    assert {len(example.history) for example in drawn if example} == {1, 3}
    assert all(example and example.history[-1] == made[0] for example in drawn)
    assert Histories(made[1:], encoder).extend(made[1], random.Random(0)) is None

"""SciRIFF's instances as they are read, JSON found in replies, and replies held to a form."""

import time
from collections import Counter

import pydantic_core
import pytest

from assistant.models.limits import CallLimits
from assistant.models.local import LocalModel
from assistant.records import Parameters
from evaluation.instructions import (
    TASKS,
    Asker,
    FoundJson,
    Item,
    find_json,
    parse_instance_id,
    read_claims,
    read_items,
)
from evaluation.reply_cache import CachedModel, ReplyCache
from tests.evaluation.instructions.sciriff_samples import INSTANCES, write_lines, write_parquet
from tests.tiny_model import save_tiny_model


def test_instances_are_read_alike_from_lines_and_from_parquet(tmp_path):
    items = read_items(write_lines(tmp_path / "test.jsonl"))
    assert read_items(write_parquet(tmp_path / "test.parquet")) == items
    assert [item.id for item in items] == [instance["_instance_id"] for instance in INSTANCES]
    assert dict(Counter(item.task.name for item in items)) == {
        name: 2 if name == "scifact_entailment" else 1 for name in TASKS
    }
    assert items[0].reference == ["sleep", "Appetite", "3"]
    assert items[4].reference == INSTANCES[4]["output"]
    assert items[7].reference == {"verdict": "SUPPORT", "evidence": ["A helped in all."]}
    assert parse_instance_id(items[0].id) == ("bioasq_list_qa", "validation", "0")


def test_scifacts_claims_stand_in(shared):
    items = read_claims(shared / "data" / "attribution" / "pairs.jsonl")
    assert len(items) == 564
    assert [item.reference["verdict"] for item in items].count("SUPPORT") == 370
    for item in items:
        abstract = item.instruction.partition("Abstract:\n")[2].split("\n")
        assert set(item.reference["evidence"]) <= set(abstract)
    assert items[0].reference["evidence"][0].startswith("RESULTS Of the 32,441 appendix samples")
    assert "Claim: 1 in 5 million in UK have abnormal PrP positivity." in items[0].instruction


@pytest.mark.parametrize(
    ("text", "nothing", "value", "how"),
    [
        ('["a"]', [], ["a"], "whole"),
        (' {"a": 1} ', {}, {"a": 1}, "whole"),
        # Another kind than was asked for is taken as it is.
        ('{"a": 1}', [], {"a": 1}, "whole"),
        ("7", [], 7, "whole"),
        ("null", {}, {}, "null"),
        ('"null"', [], [], "null"),
        ('Here it is: ["a", "b"]. Bye [1].', [], ["a", "b"], "within"),
        ('```json\n{"a": [1]}\n```', {}, {"a": [1]}, "within"),
        ("[not json] but [2]", [], [2], "within"),
        ('First {"a": 1}, then {"a": 2}', {}, {"a": 1}, "within"),
        ('An array ["a"] where an object was asked for', {}, {}, "nowhere"),
        ('{"a": [1, 2', {}, {}, "nowhere"),
        ("", [], [], "nowhere"),
        ("The answer is sleep.", [], [], "nowhere"),
        # As the authors count: brackets in strings are brackets, and one that closes nothing hides the rest.
        ('So: {"a": "}"}', {}, {}, "nowhere"),
        ("a] [1]", [], [], "nowhere"),
    ],
)
def test_json_is_found_as_the_authors_find_it(text, nothing, value, how):
    assert find_json(text, nothing) == FoundJson(value, how)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 50_000 + "]" * 50_000, "9" * 10_000, "[]]" * 50_000])
def test_what_no_parser_takes_is_no_json_and_takes_no_long(text):
    """It would take hours if every bracket were tried with every other."""
    clock = time.process_time()
    assert find_json(f"x {text}", []).where in ("nowhere", "within")
    assert find_json(text, {}).where == "nowhere"
    assert time.process_time() - clock < 20


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_nothing_else_can_be_written(tmp_path):
    local = LocalModel(str(save_tiny_model(tmp_path / "model")), "Tiny")
    model = CachedModel(local, ReplyCache(tmp_path / "replies.jsonl"))
    asker = Asker(model, "held", Parameters(temperature=0.0, max_tokens=150), CallLimits(1, 1), 1)
    for task in (task for task in TASKS.values() if task.form):
        reply = asker.ask(Item(f"{task.name}:test:1", task, "Reply.", None))
        last = reply.exchanges[-1].completion
        # A reply cut off at the token limit is a prefix of a valid one.
        assert reply.problem == "" and (reply.fits_at_last or last.finish_reason == "length")
        value = pydantic_core.from_json(last.text, allow_partial=True)
        assert isinstance(value, type(task.nothing)) or value is None

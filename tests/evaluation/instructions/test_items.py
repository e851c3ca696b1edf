"""SciRIFF's instances read from lines and from Parquet, and SciFact's claims where they stand in."""

import json
from collections import Counter

import pytest

from evaluation.input_files import EvaluationError
from evaluation.instructions import TASKS, parse_instance_id, read_claims, read_items
from tests.evaluation.instructions.sciriff_samples import INSTANCES, instance, write_lines, write_parquet


def test_instances_are_read_alike_from_lines_and_from_parquet(tmp_path):
    items = read_items(write_lines(tmp_path / "test.jsonl"))
    assert read_items(write_parquet(tmp_path / "test.parquet")) == items
    assert [item.id for item in items] == [one["_instance_id"] for one in INSTANCES]
    assert dict(Counter(item.task.name for item in items)) == {name: 2 if name == "scifact_entailment" else 1 for name in TASKS}
    assert items[0].wanted == ["sleep", "Appetite", "3"]
    assert items[4].wanted == INSTANCES[4]["output"]
    assert items[7].wanted == {"verdict": "SUPPORT", "evidence": ["A helped in all."]}
    assert parse_instance_id(items[0].id) == ("bioasq_list_qa", "validation", "0")


def test_a_limit_takes_the_first_of_each_task(tmp_path):
    items = read_items(write_lines(tmp_path / "test.jsonl"), limit=1)
    assert [item.id for item in items] == [one["_instance_id"] for one in INSTANCES[:-1]]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{not json", "line 1"),
        ('{"input": "x", "output": "[]"}', "_instance_id"),
        ('{"input": "x", "output": "[]", "_instance_id": "scierc_ner"}', "_instance_id"),
        ('{"input": 7, "output": "[]", "_instance_id": "scierc_ner:test:1"}', "input"),
        ("", "no instance of the tasks"),
        (json.dumps(instance("qasa_abstractive_qa", 1, "x", "y")), "no instance of the tasks"),
        (
            json.dumps(instance("scierc_ner", 1, "x", ["a"])),
            "scierc_ner:validation:1: the output is not usable",
        ),
        (json.dumps(instance("bioasq_list_qa", 1, "x", "no json")), "the output is not usable"),
        (json.dumps(instance("qasper_abstractive_qa", 1, "x", "null")), "the output is not usable"),
    ],
)
def test_what_is_not_sciriffs_is_named(tmp_path, line, told):
    path = tmp_path / "test.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(EvaluationError, match=told):
        read_items(path)


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    path = tmp_path / "test.parquet"
    path.write_bytes(b"PAR1 and not more")
    with pytest.raises(EvaluationError, match=r"test\.parquet cannot be read"):
        read_items(path)
    with pytest.raises(EvaluationError, match="output"):
        read_items(write_parquet(path, [{"input": "x", "_instance_id": "scierc_ner:test:1"}]))


def test_scifacts_claims_stand_in(shared):
    items = read_claims(shared / "data" / "attribution" / "pairs.jsonl")
    assert len(items) == 564
    assert [item.wanted["verdict"] for item in items].count("SUPPORT") == 370
    for item in items:
        abstract = item.instruction.partition("Abstract:\n")[2].split("\n")
        assert set(item.wanted["evidence"]) <= set(abstract)
    assert items[0].wanted["evidence"][0].startswith("RESULTS Of the 32,441 appendix samples")
    assert "Claim: 1 in 5 million in UK have abnormal PrP positivity." in items[0].instruction

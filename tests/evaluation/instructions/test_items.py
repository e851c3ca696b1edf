"""SciRIFF's instances read from lines and from Parquet, and SciFact's claims where they stand in."""

from collections import Counter

from evaluation.instructions import TASKS, parse_instance_id, read_claims, read_items
from tests.evaluation.instructions.sciriff_samples import INSTANCES, write_lines, write_parquet


def test_instances_are_read_alike_from_lines_and_from_parquet(tmp_path):
    items = read_items(write_lines(tmp_path / "test.jsonl"))
    assert read_items(write_parquet(tmp_path / "test.parquet")) == items
    assert [item.id for item in items] == [one["_instance_id"] for one in INSTANCES]
    assert dict(Counter(item.task.name for item in items)) == {
        name: 2 if name == "scifact_entailment" else 1 for name in TASKS
    }
    assert items[0].wanted == ["sleep", "Appetite", "3"]
    assert items[4].wanted == INSTANCES[4]["output"]
    assert items[7].wanted == {"verdict": "SUPPORT", "evidence": ["A helped in all."]}
    assert parse_instance_id(items[0].id) == ("bioasq_list_qa", "validation", "0")


def test_scifacts_claims_stand_in(shared):
    items = read_claims(shared / "data" / "attribution" / "pairs.jsonl")
    assert len(items) == 564
    assert [item.wanted["verdict"] for item in items].count("SUPPORT") == 370
    for item in items:
        abstract = item.instruction.partition("Abstract:\n")[2].split("\n")
        assert set(item.wanted["evidence"]) <= set(abstract)
    assert items[0].wanted["evidence"][0].startswith("RESULTS Of the 32,441 appendix samples")
    assert "Claim: 1 in 5 million in UK have abnormal PrP positivity." in items[0].instruction

"""Instances in SciRIFF's form, small and in our own words, and files of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

_RULE = "-" * 40
_TITLE = "Naïve ranks, 排序 and other orders"
_QUESTION = "Which encoder is used?"
_PAPER = "We rank with a small encoder of six layers.\nOther encoders were slower."
_ENTITIES = {"CellLine": ["HeLa"], "Chemical": ["lithium"], "Disease": [], "Gene": ["β-catenin"]}
_TERMS = {"Task": ["parsing"], "Method": ["tree kernel", "CRF"], "Metric": ["F1"], "Material": []}
_FINDINGS = [
    ["drug A", "placebo", "pain", "significantly decreased", "Pain fell with drug A (p < .01)."],
    ["drug A", "placebo", "sleep", "no significant difference", "Sleep was alike in both groups."],
]
_ANSWER = {
    "answer": "A small encoder of six layers.",
    "evidence": ["We rank with a small encoder of six layers."],
}
_SUMMARY = "The work ranks papers with a small encoder. It is quick, and finds as much as larger ones do."


def instance(task: str, number: int, asked: str, wanted: Any, split: str = "validation") -> dict[str, Any]:
    return {
        "input": asked,
        "output": wanted if isinstance(wanted, str) else json.dumps(wanted, ensure_ascii=False),
        "metadata": {
            "domains": ["artificial_intelligence"],
            "input_context": "paragraph",
            "output_context": "json",
            "source_type": "single_source",
            "task_family": "ie",
        },
        "_instance_id": f"{task}:{split}:{number}",
    }


INSTANCES = (
    instance("bioasq_list_qa", 0, "Give an array: what does orexin regulate?", ["sleep", "Appetite", "3"]),
    instance(
        "biored_ner", 1, "Give the entities: β-catenin.", {**_ENTITIES, "Species": [], "Variant": ["P75A"]}
    ),
    instance("evidence_inference", 2, "Give the findings of the trial of drug A.", _FINDINGS),
    instance("multicite_intent_classification", 3, "Why is <cite>[9]</cite> cited?", ["Uses", "Extends"]),
    instance("mup_single_document_summarization", 4, f"Sum up.\n\nPaper title:\n{_TITLE}\n", _SUMMARY),
    instance(
        "qasper_abstractive_qa",
        5,
        f"Answer.\n\nPaper:\n{_RULE}\n{_TITLE}\n\n{_PAPER}\n{_RULE}\n\nQuestion: {_QUESTION}\n\nAnswer:",
        _ANSWER,
    ),
    instance(
        "scierc_ner", 6, "Give the terms: 😀.", {**_TERMS, "OtherScientificTerm": [], "Generic": ["it"]}
    ),
    instance(
        "scifact_entailment",
        7,
        "Claim: A helps.\n\nAbstract:\nA helped in all.\nB did not.",
        {"verdict": "SUPPORT", "evidence": ["A helped in all."]},
    ),
    instance(
        "scifact_entailment",
        8,
        "Claim: B is new.\n\nAbstract:\nA helped.",
        {"verdict": "NEI", "evidence": []},
    ),
)
OTHER = instance("qasa_abstractive_qa", 9, "Not one of the eight.", "no")
TITLE, QUESTION = _TITLE, _QUESTION
OUTPUTS = {one["input"]: one["output"] for one in INSTANCES}
IDS = {one["input"]: one["_instance_id"] for one in INSTANCES}


def write_lines(path: Path, instances: Sequence[dict[str, Any]] = (*INSTANCES, OTHER)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in instances)
    path.write_text(lines, encoding="utf-8")
    return path


def write_parquet(path: Path, instances: Sequence[dict[str, Any]] = (*INSTANCES, OTHER)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(instances)), path)
    return path

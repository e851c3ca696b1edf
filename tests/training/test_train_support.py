"""The recipe on toy sets: what it learns from, that it goes on after a kill, and what it writes."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="peft, of the extra train, is not installed")

from typer.testing import CliRunner

from assistant.checking.comparable_text import read_statement
from training.__main__ import app
from training.claims import (
    Claim,
    alter_claims,
    extend_evidence,
    held_out_pairs,
    labelled_claims,
    paper_claims,
    quote_evidence,
    replace_evidence,
    shorten_quote,
)
from training.files import TrainingError
from training.fitting import Plan, fit
from training.network import Reader, weights_of_part
from training.support import TASK, examples_of

METHODS = ("Ranker", "Parser", "Tagger", "Reader", "Writer", "Indexer", "Linker", "Summariser", "Chunker")
FACTS = [
    f"In all tests the {method} from Ghent is faster than its rivals and takes {20 + 3 * index} minutes."
    for index, method in enumerate(METHODS)
]
CLAIMS = [
    Claim("fool_me_twice", fact, (f"We test system {index}.", fact, "It costs nothing."), 1.0)
    for index, fact in enumerate(FACTS)
]


def reader() -> Reader:
    return Reader.new(1, rank=2)


def test_it_learns_what_supports_a_claim(tmp_path: Path) -> None:
    claims = [*CLAIMS[:3], *replace_evidence(CLAIMS, 1.0, 1)[:3]]
    examples, network = examples_of([(claim,) for claim in claims]), reader()
    plan = Plan(epochs=30, learning_rate=5e-3, tokens=800, checkpoint_seconds=600)
    fit(network, TASK, examples, plan, tmp_path)
    network.eval()
    numbers = network.read([pair for ((pair, _),) in examples])[:, 0].tolist()
    assert min(numbers[:3]) > max(numbers[3:])


def test_a_right_claim_learns_to_stand_above_its_twins(tmp_path: Path) -> None:
    data = write_sets(tmp_path / "data")
    papers = paper_claims(data)
    examples = [example for paper in papers for example in paper.examples()]
    assert [len(example) for example in examples] == [2, 1] * len(papers)
    read, network = examples_of(examples[::2]), reader()
    plan = Plan(epochs=30, learning_rate=5e-3, tokens=800, checkpoint_seconds=600)
    fit(network, TASK, read, plan, tmp_path / "work")
    network.eval()
    for right, twin in read:
        assert right[1] > twin[1]
        numbers = network.read([right[0], twin[0]])[:, 0].tolist()
        assert numbers[0] > numbers[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [({"paper": "gone"}, "lacks the paper 'gone'"), ({"twin_of": "Nobody said so."}, "has no claim")],
)
def test_a_claim_without_its_paper_or_twin_is_named(
    tmp_path: Path, change: dict[str, str], said: str
) -> None:
    data = write_sets(tmp_path / "data")
    file = data / "support" / "paper_claim_twins.jsonl"
    first, *others = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(json.loads(first) | change), *others]) + "\n")
    with pytest.raises(TrainingError, match=said):
        paper_claims(data)


def test_a_part_that_is_gone_on_from_must_fit(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="cannot be read"):
        weights_of_part("relevance", tmp_path, reader())
    from assistant.learned.parts import SHIPPED  # noqa: PLC0415

    with pytest.raises(TrainingError, match="adapters of the part"):
        weights_of_part("relevance", SHIPPED, reader())


def test_an_altered_claim_is_none_that_its_evidence_carries() -> None:
    found = alter_claims(CLAIMS, 1.0, 1)
    assert len(found) == len(CLAIMS)
    assert all(
        claim.level == 0 and claim.claim not in FACTS and claim.sentences in SENTENCES for claim in found
    )
    assert found == alter_claims(CLAIMS, 1.0, 1)
    assert alter_claims(CLAIMS, 0.0, 1) == []


SENTENCES = {claim.sentences for claim in CLAIMS}


def test_other_evidence_is_not_the_claims_own() -> None:
    own = {claim.claim: claim.sentences for claim in CLAIMS}
    found = replace_evidence([*CLAIMS, Claim("scone", "A dog.", ("A dog runs.",), 1.0)], 1.0, 1)
    assert len(found) == len(CLAIMS)
    assert all(claim.level == 0 and claim.sentences != own[claim.claim] for claim in found)


def test_evidence_set_among_others_still_holds_its_own() -> None:
    found = extend_evidence(CLAIMS, 1.0, 1)
    for widened, claim in zip(found, CLAIMS, strict=True):
        assert widened.level == claim.level
        assert len(widened.sentences) > len(claim.sentences)
        assert set(claim.sentences) <= set(widened.sentences)


def test_a_quotation_is_supported_where_its_paper_was_altered_as_it_was() -> None:
    found = quote_evidence(CLAIMS, 1.0, 3)
    for claim in found:
        stands = any(claim.claim in sentence for sentence in claim.sentences)
        assert stands == (claim.level == 1), claim
    assert any(claim.level == 1 and claim.sentences not in SENTENCES for claim in found)


def test_a_shortened_sentence_keeps_its_numbers() -> None:
    import random  # noqa: PLC0415

    sentence = "In this paper, we show that the parser (see Fig. 2) needs 12 hours of training in all."
    for seed in range(6):
        short = shorten_quote(sentence, random.Random(seed))
        assert short[0].isupper()
        assert "Fig" not in short
        assert [number.value for number in read_statement(short).numbers][-1] == 12


def write_sets(data: Path, lines: str = "") -> Path:
    """Write the smallest folder of sets that the recipe reads."""
    from training.claims import LEARNED_SPLITS  # noqa: PLC0415

    rows = []
    for name, splits in LEARNED_SPLITS.items():
        for split in dict.fromkeys((splits[0], "all" if splits[0] == "all" else "dev")):
            for index, fact in enumerate(FACTS):
                own = fact.replace("tests", f"tests of {name} {split}", 1)
                other = FACTS[(index + 3) % len(FACTS)].replace("tests", f"tests of {name} {split} {index}")
                rows += [
                    {"set": name, "split": split, "claim": own, "evidence": own, "label": "supported"},
                    {"set": name, "split": split, "claim": own, "evidence": other, "label": "not"},
                ]
    rows.append({"set": "anli", "split": "dev", "claim": "a", "evidence": "b", "label": "not"})
    attributed = [
        {"set": name, "claim": row["claim"] + name, "references": [row["evidence"]], "label": row["label"]}
        for name in ("AttributionBench", "WiCE")
        for row in rows[:20]
    ]
    paper = {"title": "T", "source": FACTS[:4], "targets": [FACTS[0]]}
    sections = {**paper, "source": {"abstract": FACTS[:2], "conclusion": FACTS[2:4]}}
    abstracts, claims, twins = [], [], []
    for index, fact in enumerate(
        FACTS
    ):  # of each paper a right claim with a twin, and one that goes beyond it
        paper_id = f"p{index}"
        right = {"paper": paper_id, "claim": fact, "label": "supported", "type": "near"}
        beyond = {"claim": f"It is free: {fact}", "label": "partial", "type": "partial"}
        wrong = {"claim": fact.replace("faster", "slower"), "label": "not", "type": "swap", "twin_of": fact}
        claims += [right, {**right, **beyond}]
        twins.append({**right, **wrong})
        sentences = ["We test it.", fact]
        abstracts.append({"paper": paper_id, "title": f"On {index}", "year": 2020, "sentences": sentences})
    files = {
        "questions/papers_abstracts": "\n".join(map(json.dumps, abstracts)),
        "support/paper_claims": "\n".join(map(json.dumps, claims)),
        "support/paper_claim_twins": "\n".join(map(json.dumps, twins)),
        "support/pairs": lines or "\n".join(map(json.dumps, rows)),
        "attribution/pairs": "\n".join(map(json.dumps, attributed)),
        "summaries/scitldr": json.dumps(paper),
        "summaries/aclsum": json.dumps(sections),
    }
    for name, text in files.items():
        (data / f"{name}.jsonl").parent.mkdir(parents=True, exist_ok=True)
        (data / f"{name}.jsonl").write_text(text + "\n", encoding="utf-8")
    return data


def run(data: Path, folder: Path) -> Any:
    options = ["--data", str(data), "--work", str(folder / "work"), "--out", str(folder / "out")]
    return CliRunner().invoke(app, ["support", *options])


def test_the_command_writes_a_part_that_the_product_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assistant.learned.support import open_support  # noqa: PLC0415

    made = run(write_sets(tmp_path / "data"), tmp_path)
    assert made.exit_code == 0, made.output
    card = json.loads((tmp_path / "out" / "support.json").read_text())
    assert set(card["scales"]) == {"all", "features"}
    assert "network" in card["scales"]["all"]
    assert "network" not in card["scales"]["features"]
    assert card["provenance"]["other_sets_only"]["without"]["WiCE"]["auroc"] > 0.9
    assert "anli" not in str(card)
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path / "out"))
    assert open_support().name == card["name"]


def test_a_malformed_set_is_named(tmp_path: Path) -> None:
    made = run(write_sets(tmp_path / "data", "nonsense"), tmp_path)
    assert (made.exit_code, "pairs.jsonl, line 1" in " ".join(made.output.split())) == (2, True)


def test_what_may_only_measure_is_never_learned_from(tmp_path: Path) -> None:
    data = write_sets(tmp_path / "data")
    with pytest.raises(TrainingError, match="'anli'"):
        labelled_claims(data, {"anli": 3}, 1, 0)


def test_no_claim_or_evidence_is_learned_from_and_measured_on(shared: Path) -> None:
    learned = labelled_claims(shared / "data", {"factcheck_gpt": 2000, "fever_nli": 1000}, 13, 0)
    held = held_out_pairs(shared / "data", 0, 10_000)
    assert not {claim.claim for claim in learned} & {pair.claim for pair in held}
    assert {pair.set for pair in held if pair.split == "all"} == {"factcheck_gpt"}

"""What a construction leaves on disk: rows in chat form, what was dropped, and counts of both."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from corpus.durable import replace_durably
from training.files import TrainingError
from training.truthreader.construct import Construction
from training.truthreader.records import Row

Statistics = Mapping[str, object]


def dropped_path(out: Path) -> Path:
    return out.with_suffix(".dropped.jsonl")


def statistics_path(out: Path) -> Path:
    return out.with_suffix(".statistics.json")


def ledger_path(out: Path) -> Path:
    return out.with_suffix(".calls.jsonl")


def row_json(row: Row) -> dict[str, object]:
    """Return a row as it is written; `messages` are in the form that chat templates take."""
    return asdict(row)


def statistics_of(made: Construction) -> Statistics:
    """Return counts of the rows per kind, history and change, and of what was dropped per reason."""
    rows = made.rows
    refused = sum(row.is_refusal for row in rows)
    labels = sum(len(row.cited) for row in rows)
    return {
        "rows": len(rows),
        "refusals": refused,
        "refusal_share": round(refused / len(rows), 4) if rows else 0.0,
        "citations_per_answer": round(labels / (len(rows) - refused), 2) if len(rows) > refused else 0.0,
        "kinds": _counts(row.kind for row in rows),
        "histories": _counts(row.history_type for row in rows),
        "changes": _counts(row.change for row in rows),
        "dropped": len(made.dropped),
        "dropped_reasons": _counts(f"{one.step}: {one.reason}" for one in made.dropped),
    }


def write_construction(made: Construction, out: Path, about: Mapping[str, object]) -> Statistics:
    """Write the three files, the rows last, and return the counts; raises TrainingError.

    `about` says what they were made of.
    """
    counts = {**about, **statistics_of(made)}
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _write(dropped_path(out), map(_line, map(asdict, made.dropped)))
        _write(statistics_path(out), [json.dumps(counts, indent=2, ensure_ascii=False) + "\n"])
        _write(out, map(_line, map(row_json, made.rows)))
    except OSError as error:
        raise TrainingError(
            f"{out} cannot be written: {error.strerror}. Free space or choose another --out, and run again:"
            " what was asked is not asked twice."
        ) from None
    return counts


def _write(path: Path, parts: Iterable[str]) -> None:
    temporary = path.with_name(f"{path.name}.part")
    with temporary.open("w", encoding="utf-8") as file:
        file.writelines(parts)
    replace_durably(temporary, path)


def _line(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))

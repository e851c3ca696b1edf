"""Score bars as HTML and CSS, always with a number and a word; built only from numbers and constants."""

from collections.abc import Collection, Sequence

from assistant.checking.overlap import CITATION_SCORES, ScoreWord, score_digits, support_word
from assistant.checking.thresholds import thresholds

# The frame of a citation in a text, so that weak ones are told apart without colour.
EDGES: dict[ScoreWord, str] = {"weak": "dashed", "partial": "none", "strong": "none"}
FOUND_EDGE = "dotted"  # of a citation that the check found
NOT_MEASURED = "This measures support by the cited papers, not whether the question is answered."


IN_SHORT = (
    "The bar beside a citation says how well what it cites supports the sentence, and beside the passage a "
    "second one how much of its wording is there (overlap). They are no proof: read the passage."
)


def meaning() -> str:
    """Return the explanation of the two bars."""
    overlap, support = thresholds().overlap, thresholds().support
    return (
        "Overlap is the share of the claim's words that the cited passage also has (ROUGE-1 precision), of "
        f"the passage, not of the marked sentence alone: {_levels(overlap.partial, overlap.strong)}. Support "
        "is how likely what is cited carries the claim, judged by words, meaning, numbers, names and "
        f"negation: {_levels(support.partial, support.strong)}; of a claim with a phrase that nothing cited "
        f"says, partial at most. Neither is proof: read the passage. {NOT_MEASURED}"
    )


def _levels(partial: float, strong: float) -> str:
    return f"weak below {partial:.2f}, partial below {strong:.2f}, strong from there on"


def support_bar(support: float) -> str:
    """Return the HTML of the support bar."""
    return _bar("Support", support, "Support")


def sentence_bar(overlap: float) -> str:
    """Return the HTML of the overlap bar of a text that a model wrote from one sentence."""
    return _bar("Overlap", overlap, "Overlap with the sentence")


def score_bars(overlap: float | None, support: float | None) -> str:
    """Return the HTML of a citation's bars, with a dash for a score that was not measured."""
    return _bar("Overlap", overlap, "Overlap with the passage") + _bar("Support", support, "Support")


def format_score(support: float) -> str:
    """Return a support score as number and word."""
    return f"{score_digits(support)} {support_word(support)}"


def citation_bars(text: int, supports: Sequence[float | None], found: Collection[int] = frozenset()) -> str:
    """Return the style of a text's citation bars: height, colour and frame.

    Without a measured support there is no rule, and the bar is a grey dash. Citations `found` by the check
    have square corners and a dotted frame.
    """
    rules = (
        f'a[href="#cite-{int(text)}-{number}"] {{ {_bar_rule(support, is_found=number in found)} }}'
        for number, support in enumerate(supports, start=1)
        if support is not None
    )
    return f"<style>{' '.join(rules)}</style>"


def _bar_rule(support: float, *, is_found: bool) -> str:
    word = support_word(support)
    edge = f"{FOUND_EDGE}; border-radius: 0" if is_found else EDGES[word]
    share = f"{float(score_digits(support)):.0%}"
    return f"--pt-height: 82%; --pt-share: {share}; --pt-hue: var(--pt-{word}); --pt-edge: {edge};"


def describe_support(support: float | None) -> str:
    """Return a citation's support in words, for its accessible name."""
    if support is None:
        return "support not measured"
    return f"support {support_word(support)}, {score_digits(support)}"


def _bar(name: str, score: float | None, meaning: str) -> str:
    if score is None:
        return (
            f'<div class="pt-score" role="img" aria-label="{name}: not measured"><span>{name}</span>'
            '<span class="pt-track"></span><span class="pt-value">– no score</span></div>'
        )
    number, word = score_digits(score), CITATION_SCORES[name.lower()](score)
    return (
        f'<div class="pt-score" role="img" aria-label="{meaning}: {number}, {word}"><span>{name}</span>'
        f'<span class="pt-track"><span class="pt-fill pt-{word}" style="width:{float(number):.0%}">'
        "</span></span>"
        f'<span class="pt-value">{number} {word}</span></div>'
    )

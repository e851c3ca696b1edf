"""What a comparison takes before it is begun: calls counted, tokens estimated from above."""

from collections.abc import Callable, Sequence

from assistant.comparing.admission import leaves_out
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import ELEMENT_NAMES, Budget, ComparisonOptions
from assistant.comparing.replies import (
    LONGEST_ANALYSIS,
    LONGEST_ELEMENT,
    LONGEST_SENTENCE,
    MOST_LABELS,
    SPARE_SENTENCES,
)
from assistant.generators.calls import Price
from assistant.prompts.material import estimate_tokens
from assistant.records import Message

# Tokens of what stands in every prompt of a kind beside summaries: instructions, description, elements.
_COMPARE_PROMPT, _VOTE_PROMPT = 2400, 1800
_REFERENCE = 40
# Tokens that replies as long as they are asked for have.
_ELEMENTS_REPLY, _VOTE_REPLY = 700, 250
_TOKENS_PER_WORD = 1.5
_FIRST_WORDS, _WORDS_PER_PAPER = 90, 45


def summary_words(papers: int) -> int:
    """Return how many words a summary of so many papers may have."""
    return _FIRST_WORDS + _WORDS_PER_PAPER * papers


def summary_tokens(papers: int) -> int:
    """Return how many tokens a summary may have before it is cut: twice what is asked for."""
    return int(2 * _TOKENS_PER_WORD * summary_words(papers))


def sentences_tokens(papers: int) -> int:
    """Return how many tokens the longest summary in sentences has, whatever the tokenizer."""
    return (papers + SPARE_SENTENCES) * (LONGEST_SENTENCE + 8 * MOST_LABELS + 40)


def elements_tokens() -> int:
    """Return how many tokens the longest reply of its form has, whatever the tokenizer."""
    return len(ELEMENT_NAMES) * (LONGEST_ELEMENT + 30)


def vote_tokens() -> int:
    return LONGEST_ANALYSIS + 100


def budget_of(
    read: Sequence[Sequence[Message]],
    sources: Sequence[SourceText],
    options: ComparisonOptions,
    written: Callable[[int], int],
    price: Price,
) -> Budget:
    """Return what a comparison takes: `read` are the prompts of the elements still to be extracted.

    `written` tells how many tokens the model takes to write a reply of so many.
    """
    papers = len(sources) - 1
    prompt = sum(estimate_tokens(message.content) for messages in read for message in messages)
    completion = len(read) * written(_ELEMENTS_REPLY)
    samples = votes = 0
    for round_papers, continued in _rounds(papers, options):
        candidates = continued * options.samples
        words = int(_TOKENS_PER_WORD * summary_words(round_papers))
        prompt += candidates * (_COMPARE_PROMPT + _REFERENCE * round_papers + words)
        completion += candidates * written(words)
        prompt += options.votes * (_VOTE_PROMPT + _REFERENCE * round_papers + candidates * words)
        completion += options.votes * written(_VOTE_REPLY)
        samples += candidates
        votes += options.votes
    typed = len(read) + votes
    return Budget(samples + typed, samples + 2 * typed, prompt, completion, price(prompt, completion))


def _rounds(papers: int, options: ComparisonOptions) -> list[tuple[int, int]]:
    """Return for each round how many papers it has by then, and how many summaries it continues."""
    if leaves_out(options, "increments"):
        return [(papers, 1)]
    rounds, continued = [], 1
    for number in range(1, papers + 1):
        rounds.append((number, continued))
        continued = min(options.keep, continued * options.samples)
    return rounds

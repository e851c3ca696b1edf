"""The schemas of a model's replies in a comparison, and the comparison's budget: calls, tokens, price."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from assistant.comparing.admission import leaves_out
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import ELEMENT_NAMES, Budget, ComparisonOptions
from assistant.generators.calls import Price
from assistant.prompts.material import estimate_tokens
from assistant.records import Message
from corpus.sentences import sentence_spans

# Characters; the prompts ask for about half.
LONGEST_ELEMENT = 450
LONGEST_ANALYSIS = 1200
LONGEST_SENTENCE = 300
# The most sentences beyond one for each reference, and the most labels of a sentence.
SPARE_SENTENCES, MOST_LABELS = 4, 5
# Tokens of every prompt of a kind besides summaries: instructions, description, elements.
_COMPARE_PROMPT, _VOTE_PROMPT = 2400, 1800
_REFERENCE = 40
# Tokens of replies of the requested length.
_ELEMENTS_REPLY, _VOTE_REPLY = 700, 250
_TOKENS_PER_WORD = 1.5
_FIRST_WORDS, _WORDS_PER_PAPER = 90, 45


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _shortened_to(longest: int) -> BeforeValidator:
    """Return a validator that cuts a long text at the end of a sentence or word instead of rejecting it."""

    def shortened(text: object) -> object:
        if not isinstance(text, str) or len(text) <= longest:
            return text
        spans = sentence_spans(text[:longest])
        whole = text[: spans[-1][0]].rstrip() if len(spans) > 1 else ""
        return whole or text[:longest].rpartition(" ")[0] or text[:longest]

    return BeforeValidator(shortened)


def _elements_reply() -> type[BaseModel]:
    element = Annotated[str | None, Field(max_length=LONGEST_ELEMENT), _shortened_to(LONGEST_ELEMENT)]
    fields = dict.fromkeys(ELEMENT_NAMES, (element, ...))
    return create_model("KeyElements", __base__=_Reply, **fields)  # type: ignore[call-overload, no-any-return]


# The seven answers, each a string, or null if the text does not state it.
ElementsReply = _elements_reply()


@cache
def summary_reply(references: int) -> type[BaseModel]:
    """Return the schema of a summary of `references` papers: sentences with their labels."""
    labels = Literal[tuple(range(1, references + 1))]  # type: ignore[valid-type]
    sentence = create_model(
        "Sentence",
        __base__=_Reply,
        text=(
            Annotated[str, Field(min_length=1, max_length=LONGEST_SENTENCE), _shortened_to(LONGEST_SENTENCE)],
            ...,
        ),
        labels=(list[labels], Field(min_length=1, max_length=MOST_LABELS)),  # type: ignore[valid-type]
    )
    most = references + SPARE_SENTENCES
    return create_model(
        "Summary",
        __base__=_Reply,
        sentences=(list[sentence], Field(min_length=1, max_length=most)),  # type: ignore[valid-type]
    )


@cache
def vote_reply(candidates: int) -> type[BaseModel]:
    """Return the schema of a vote on `candidates` candidates: an analysis, and the number of the best."""
    numbers = Literal[tuple(range(1, candidates + 1))]  # type: ignore[valid-type]
    return create_model(
        "Vote",
        __base__=_Reply,
        analysis=(
            Annotated[str, Field(max_length=LONGEST_ANALYSIS), _shortened_to(LONGEST_ANALYSIS)],
            ...,
        ),
        choice=(numbers, ...),  # type: ignore[arg-type]
    )


def summary_words(papers: int) -> int:
    """Return the word limit of a summary of `papers` papers."""
    return _FIRST_WORDS + _WORDS_PER_PAPER * papers


def summary_tokens(papers: int) -> int:
    """Return the token limit of a summary: twice its word limit."""
    return int(2 * _TOKENS_PER_WORD * summary_words(papers))


def sentences_tokens(papers: int) -> int:
    """Return an upper bound of the tokens in the longest summary in sentences, whatever the tokenizer."""
    return (papers + SPARE_SENTENCES) * (LONGEST_SENTENCE + 8 * MOST_LABELS + 40)


def elements_tokens() -> int:
    """Return an upper bound of the tokens in the longest elements reply, whatever the tokenizer."""
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
    """Return the budget of a comparison; `read` are the prompts of elements still to be extracted.

    `written` returns the token limit for a reply of a given length.
    """
    papers = len(sources) - 1
    prompt = sum(estimate_tokens(message.content) for messages in read for message in messages)
    completion = len(read) * written(_ELEMENTS_REPLY)
    samples = votes = 0
    for round_papers, continued in rounds_of(papers, options):
        candidates = continued * options.samples
        words = int(_TOKENS_PER_WORD * summary_words(round_papers))
        prompt += candidates * (_COMPARE_PROMPT + _REFERENCE * round_papers + words)
        completion += candidates * written(words)
        known = _REFERENCE + (0 if leaves_out(options, "elements") else _ELEMENTS_REPLY)
        cast = options.votes if candidates > 1 else 0
        prompt += cast * (_VOTE_PROMPT + known * round_papers + candidates * words)
        completion += cast * written(_VOTE_REPLY)
        samples += candidates
        votes += cast
    typed = len(read) + votes
    return Budget(samples + typed, samples + 2 * typed, prompt, completion, price(prompt, completion))


def rounds_of(papers: int, options: ComparisonOptions) -> list[tuple[int, int]]:
    """Return for each round the number of papers so far, and of the summaries that it continues."""
    if leaves_out(options, "increments"):
        return [(papers, 1)]
    rounds, continued = [], 1
    for number in range(1, papers + 1):
        rounds.append((number, continued))
        continued = min(options.keep, continued * options.samples)
    return rounds

"""Comparisons by small models, which write on one paper at a time; the rest is taken from the papers.

A model of 1.5 billion parameters that is asked for a whole summary or for key elements repeats the form,
copies the summary with new errors, and votes at random.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from assistant.checking.citations import check_sentences, plain_claim
from assistant.checking.entailment import open_scorer
from assistant.checking.mending.carried import labelled, mended
from assistant.comparing.extractive.composing import compose
from assistant.comparing.extractive.profiles import read_profile
from assistant.comparing.prompted import material
from assistant.comparing.prompted.replies import rounds_of
from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import Budget, ComparisonOptions
from assistant.generators.calls import Price
from assistant.own_words import in_third_person
from assistant.prompts.material import estimate_tokens
from assistant.prompts.render import load_prompt
from assistant.questions.vocabulary import stems
from assistant.reading.cues import version
from assistant.reading.finding import find_elements
from assistant.reading.standing_alone import leans
from assistant.reading.telling import short_title
from assistant.records import Answer, Call, ElementName, Evidence, LabelledPaper, Message
from corpus.encoders.base import Encoder
from corpus.text import words

NOTE = (
    "This model is small: it writes of one paper at a time, from sentences chosen of it. What no paper "
    "supports gives way to the papers' own sentences, and no votes are cast."
)
MOST_SENTENCES = 3
WORDS_OF_AN_ELEMENT = 40
BORROWED = 2  # words of the description that no paper has
REPLY_TOKENS = 300
# Upper estimates of the tokens of a call; 500 (without the description) and 65 were measured.
PROMPT_TOKENS, MEAN_REPLY_TOKENS = 700, 150
_WORK = re.compile(r"^The (?:proposed|new) work (?=[a-z])")
_IT = re.compile(rf"{_WORK.pattern}|^(?:It|This (?:paper|work|study)|The (?:paper|work|study)) (?=[a-z])")
_ENDS = re.compile(r"[.!?][”\"')\]]*(?:\s*\[\d{1,3}\])*\s*\Z")
_NUMBERED = re.compile(r"\b[Pp]aper (\d{1,3})\b")
_PROMPT_NAME = "compare_short"


class OneByOne:
    """Compares with a small model: key elements are the papers' own sentences."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._scorer = open_scorer(encoder)

    @property
    def elements_version(self) -> str:
        return version()

    def key_elements(self, source: SourceText) -> Mapping[ElementName, str]:
        return find_elements(source.paper, self._encoder)

    def messages(self, step: ComparisonStep) -> tuple[Message, ...]:
        """Render the prompt for sentences on the new papers of a step."""
        earlier = [label for label in step.labels if label not in step.new]
        return load_prompt(_PROMPT_NAME).render(
            description=material.render_description(step),
            before=material.render_brief(step, earlier[-1:], elements=2, words=WORDS_OF_AN_ELEMENT),
            elements=material.render_brief(step, step.new, elements=5, words=WORDS_OF_AN_ELEMENT),
            new=" and ".join(f"[{label}]" for label in step.new),
        )

    def continued(self, step: ComparisonStep, summary: str, reply: str) -> str:
        """Return a summary with the sentences of a reply that the papers support.

        A new paper that none of them cites is described by its own sentences.
        """
        evidence = Evidence(tuple(step.sources[label].paper for label in step.labels))
        text = mended(reply, evidence, self._scorer, "claims").text
        text = in_third_person(Answer(text, check_sentences(text, evidence)), evidence).text
        sentences = check_sentences(text, evidence)
        if sentences and not _ENDS.search(text):
            sentences = sentences[:-1]  # cut short
        before = {tuple(words(sentence.claim)) for sentence in check_sentences(summary, evidence)}
        named: set[int] = set()
        pieces: list[str] = []
        for sentence in sentences[: MOST_SENTENCES * len(step.new)]:
            papers = [paper for label in sentence.labels if (paper := evidence.paper(label))]
            if (
                not papers
                or not plain_claim(sentence.claim)
                or _is_borrowed(sentence.claim, step.about, papers)
            ):
                continue
            piece = text[sentence.start : sentence.end].strip()
            if len(papers) == 1:
                piece = _said_of(papers[0], plain_claim(sentence.claim), evidence, is_first=not pieces)
            piece_words = tuple(words(plain_claim(piece)))
            if piece_words not in before and (pieces or not leans(piece)):
                before.add(piece_words)
                pieces.append(piece)
                named.update(sentence.labels)
        pieces += (self._own(step, label) for label in step.new if label not in named)
        return " ".join(filter(None, (summary, *pieces)))

    def _own(self, step: ComparisonStep, label: int) -> str:
        return compose(
            [read_profile(step.sources[label], step.elements.get(label))], step.about, self._encoder
        )


def _title(evidence: Evidence, label: int) -> str:
    paper = evidence.paper(label)
    return f"“{short_title(paper.paper.title)}”" if paper else "another paper"


def _said_of(paper: LabelledPaper, claim: str, evidence: Evidence, *, is_first: bool) -> str:
    """Return a sentence on a paper, with its title in place of a missing or vague subject."""
    claim = _NUMBERED.sub(lambda match: _title(evidence, int(match[1])), claim)
    title = f"{_title(evidence, paper.label)} "
    if claim[:1].islower():
        return labelled(title + claim, paper.label)
    return labelled((_IT if is_first else _WORK).sub(title, claim, count=1), paper.label)


def _is_borrowed(claim: str, about: str, papers: Sequence[LabelledPaper]) -> bool:
    """Return True if a claim has words of the description that the papers do not have."""
    texts = [
        text
        for paper in papers
        for text in (paper.paper.title, *(passage.text for passage in paper.passages))
    ]
    return len((stems(claim) & stems(about)) - stems(" ".join(texts))) >= BORROWED


def is_one_by_one(calls: Iterable[Call]) -> bool:
    """Return True if recorded summaries were asked for one paper at a time."""
    system = load_prompt(_PROMPT_NAME).system
    return any(call.step == "compare" and call.messages[0].content == system for call in calls)


def budget(sources: Sequence[SourceText], options: ComparisonOptions, price: Price) -> Budget:
    """Return the upper bound of a comparison's cost."""
    samples = sum(continued * options.samples for _, continued in rounds_of(len(sources) - 1, options))
    about = estimate_tokens(" ".join(sources[0].paper.paper.abstract.split()[: material.DESCRIPTION_WORDS]))
    prompt, completion = samples * (PROMPT_TOKENS + about), samples * MEAN_REPLY_TOKENS
    return Budget(samples, samples, prompt, completion, price(prompt, completion))

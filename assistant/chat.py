"""The assistant: the only composition of corpus, encoder and generator."""

import time
from collections.abc import Callable, Iterator
from collections.abc import Generator as Iteration
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol, TypeVar, cast

from assistant.admission import admit
from assistant.checking.answer import check, is_off, with_relevance
from assistant.checking.entailment import open_scorer
from assistant.checking.mending.carried import Mend, with_found
from assistant.checking.phrases.sentences import with_unsaid
from assistant.checking.refusal import refuse, with_coverage
from assistant.generators.best_of import SampledGenerator, write_best
from assistant.generators.extractive.candidates import is_of_rows
from assistant.generators.extractive.found import cannot_answer
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.extractive.listing import list_papers_by
from assistant.generators.extractive.one_paper import ABOUT, meant_paper
from assistant.generators.prompted import PromptedGenerator
from assistant.generators.protocol import EXTRACTIVE, Generator
from assistant.language import LanguageAsked, language_asked
from assistant.own_words import OwnWords, as_list, claims_of, in_third_person
from assistant.provenance import provenance_of
from assistant.questions.intent import request_kind
from assistant.questions.listing import asked_as_list
from assistant.questions.parts import asked_part
from assistant.questions.rewriting import rewrite_from_words
from assistant.questions.subject import asks_of_unnamed_paper
from assistant.reading.parts import passages_of_part
from assistant.records import (
    Answer,
    Answered,
    AskOptions,
    CallLog,
    Checking,
    Draft,
    Event,
    Evidence,
    Provenance,
    Quick,
    RefusalReason,
    RequestKind,
    Retrieved,
    Rewrite,
    Rewritten,
    ScoredPassage,
    SecondSearch,
    Step,
    StepTime,
    Turn,
    Written,
)
from assistant.retrieve import as_read, gather_evidence, retrieve
from assistant.second_search import SecondSearcher, scored
from corpus.encoders.base import Encoder
from corpus.encoders.known import keep_vectors
from corpus.records import PaperHits, Scope
from corpus.store.corpus import Corpus
from corpus.text import storable
from corpus.wording import counted

Result = TypeVar("Result")

# A small model's answer to these has to tell of as many papers as the extractive one.
TELLS_OF_SEVERAL = ("comparison", "synthesis")
# A model says the same more directly: it may be a little less relevant than the extractive answer.
NEARLY = 0.95


class Assistant:
    """Answers questions from a corpus with a generator."""

    def __init__(self, corpus: Corpus, encoder: Encoder, generator: Generator) -> None:
        self.corpus = corpus
        self.encoder = encoder
        self.generator = generator
        self.scorer = open_scorer(encoder)

    def ask(self, question: str, history: tuple[Turn, ...], options: AskOptions) -> Iterator[Event]:
        """Answer `question` from the corpus in the light of `history`; the last event holds the Turn.

        Raises AssistantError for a question that cannot be taken, and what the generator raises (ModelError).
        """
        question = admit(question, options, self.corpus, history)
        # Who chooses sentences would choose from what only helps to read the others.
        options = replace(
            options,
            in_context=options.in_context and self._is_model,
            finds_citations=options.finds_citations and self._is_model,
            careful=self._is_careful(options),
            searches_again=self._searches_again(options),
        )
        run = _Run(question, options, provenance_of(self.corpus, self.generator.name, self.scorer.name))
        rewrite = run.timed("rewrite", lambda: self._understand(question, history, options, run.log))
        yield Rewritten(rewrite)
        papers = run.timed("retrieve", lambda: retrieve(self.corpus, self.encoder, rewrite, options))
        yield Retrieved(papers)
        run.hits = scored(papers)
        rewrite, evidence = run.timed("retrieve", lambda: self.gathered(rewrite, papers, options))
        if options.searches_again:
            searcher = SecondSearcher(self.corpus, self.encoder, self.generator, self.gathered)
            papers, evidence, run.second_searches = run.timed(
                "retrieve", lambda: searcher.search(rewrite, papers, evidence, options, run.log)
            )
        if run.second_searches:
            yield Retrieved(papers, run.second_searches)
        reason = run.timed("retrieve", lambda: self._cannot_answer(rewrite, evidence, options))
        if reason:
            refused = self._refused(reason, papers, options.scope, rewrite)
            yield Answered(run.turn(rewrite, Evidence(), refused))
            return
        checked = self._checker(rewrite, papers, evidence, options)
        drafting = _Drafting(rewrite, history, evidence)
        standing = None
        if self._is_slow or options.careful:
            standing = run.timed("retrieve", lambda: self._extractive(drafting, checked))
        if options.careful and standing and standing.refusal:
            yield Answered(run.turn(rewrite, evidence, standing))
            return
        is_shown = standing is not None and not standing.refusal and self._is_slow
        if standing and is_shown:
            yield Quick(run.turn(rewrite, evidence, standing))
        draft = yield from run.write(self._write(drafting, checked, options.drafts, run.log))
        yield Checking()
        answer = run.timed(
            "check", lambda: self._usable(checked(draft), standing, drafting, checked, options)
        )
        turn = run.turn(rewrite, evidence, answer)
        yield Answered(replace(turn, quick=standing) if is_shown and not answer.stands_in_for else turn)

    def answer(
        self, question: str, history: tuple[Turn, ...] = (), options: AskOptions | None = None
    ) -> Turn:
        """Return the turn that `ask` comes to, for whoever does not look on; raises what it does."""
        *_, last = self.ask(question, history, options or AskOptions())
        return cast(Answered, last).turn

    def _cannot_answer(
        self, rewrite: Rewrite, evidence: Evidence, options: AskOptions
    ) -> RefusalReason | None:
        if self._is_of_unnamed_paper(rewrite, options.scope):
            return "which_paper"
        if evidence.papers and not self._language_asked(rewrite, options.scope).is_read:
            return "language"
        # A small model writes something of whatever it is given: the evidence itself has to answer.
        by_model = self._is_model and not options.careful
        return cannot_answer(rewrite, evidence, self.encoder, by_model=by_model)

    def _is_of_unnamed_paper(self, rewrite: Rewrite, scope: Scope) -> bool:
        if rewrite.edited or not asks_of_unnamed_paper(rewrite.searched_for):
            return False
        return self.corpus.count_papers(scope) > 1

    def _is_careful(self, options: AskOptions) -> bool:
        if not self._is_model:
            return False
        is_small = isinstance(self.generator, PromptedGenerator) and self.generator.is_small
        return is_small if options.careful is None else options.careful

    def _usable(
        self,
        answer: Answer,
        standing: Answer | None,
        drafting: "_Drafting",
        checked: "_Checker",
        options: AskOptions,
    ) -> Answer:
        """Return a model's answer, or the extractive one in place of one that refuses or misses the question.

        Only where the gate says that the evidence answers; `standing` is the extractive answer, if known.
        """
        if options.careful and options.finds_citations and drafting.rewrite.kind == "list":
            standing = standing or self._extractive(drafting, checked)
            if standing is None or standing.refusal:
                return answer
            return self._as_list(answer, standing, drafting.evidence, checked)
        if not options.finds_citations or not (answer.refusal or options.careful):
            return answer
        is_sound = not (answer.refusal or is_off(answer) or answer.not_carried)
        if is_sound and drafting.rewrite.kind not in TELLS_OF_SEVERAL:
            return answer
        standing = standing or self._extractive(drafting, checked)
        if standing is None or standing.refusal or _is_better(answer, standing, drafting.rewrite.kind):
            return answer
        return self._standing_in(standing, answer)

    def _standing_in(self, standing: Answer, answer: Answer) -> Answer:
        name, problems = self.generator.name, answer.problems
        remark = _remark(answer, standing)
        return replace(standing, stands_in_for=name, remark=remark, problems=problems)

    def _as_list(self, answer: Answer, standing: Answer, evidence: Evidence, checked: "_Checker") -> Answer:
        """Return the list of papers that the extractive answer has, in a model's words where it has some."""
        listed, missing = as_list(answer, standing, evidence)
        if not listed.text:
            return self._standing_in(standing, answer)
        again = _checked_again(answer, listed, checked)
        remark = f"Quoted from papers that the model left out: {counted(missing, 'line')}." if missing else ""
        return replace(again, remark=remark)

    def _extractive(self, drafting: "_Drafting", checked: "_Checker") -> Answer | None:
        """Return the extractive answer, None where the gate says that the evidence does not answer."""
        if cannot_answer(drafting.rewrite, drafting.evidence, self.encoder):
            return None
        draft = _last_of(drafting.begin(ExtractiveGenerator(self.encoder), CallLog()))
        return checked(draft, mend="nothing")

    def _searches_again(self, options: AskOptions) -> bool:
        return self.generator.searches_again if options.searches_again is None else options.searches_again

    @property
    def _is_slow(self) -> bool:
        return isinstance(self.generator, PromptedGenerator) and self.generator.is_slow

    @property
    def _is_model(self) -> bool:
        return self.generator.name != EXTRACTIVE

    def _language_asked(self, rewrite: Rewrite, scope: Scope) -> LanguageAsked:
        return language_asked(rewrite, self.encoder.name, self.corpus, scope)

    def gathered(
        self, rewrite: Rewrite, papers: tuple[PaperHits, ...], options: AskOptions
    ) -> tuple[Rewrite, Evidence]:
        """Return the evidence: of one paper that is asked about, what may tell the part that is asked for.

        A question of one paper that none of those found is meant by is one of several papers.
        """
        evidence = gather_evidence(self.corpus, papers, in_context=options.in_context)
        if rewrite.kind == "summary":
            rewrite, evidence = self._of_one_paper(rewrite, evidence)
        read = [passage for paper in evidence.papers for passage in paper.passages]
        keep_vectors(self.encoder, self.corpus.sentence_vectors(read))
        return rewrite, evidence

    def _of_one_paper(self, rewrite: Rewrite, evidence: Evidence) -> tuple[Rewrite, Evidence]:
        paper = meant_paper(rewrite.searched_for, evidence)
        if paper is None:
            return replace(rewrite, kind="how"), evidence
        part = asked_part(rewrite.searched_for) or ABOUT
        telling = passages_of_part(paper.paper, self.corpus.passages(paper.paper.id), part)
        known = {passage.number: passage for passage in (*telling, *paper.passages)}
        passages = tuple(known[number] for number in sorted(known))
        return rewrite, Evidence((replace(paper, passages=passages),))

    def _understand(
        self, question: str, history: tuple[Turn, ...], options: AskOptions, log: CallLog
    ) -> Rewrite:
        """Return the question with its search query, the reader's own where there is one, and its kind."""
        kind = options.kind or request_kind(question, options.scope)
        if own := storable(options.search_query).strip():
            return Rewrite(question, own, kind=kind, edited=True)
        by_words = self._read(rewrite_from_words(question, history), kind, options)
        asked = self._language_asked(by_words, options.scope)
        if asked.code:
            if asked.is_searched_as_asked(follows=bool(history)):
                return by_words
        elif history and not by_words.used_turns and self._is_refused_anyway(by_words, options):
            return by_words
        return self._read(self.generator.rewrite_question(question, history, log), kind, options)

    def _read(self, rewrite: Rewrite, kind: RequestKind, options: AskOptions) -> Rewrite:
        """Return a rewritten question as this corpus reads it, with its kind."""
        rewrite = as_read(self.corpus, rewrite)
        if not options.kind and rewrite.language:
            kind = request_kind(rewrite.search_query, options.scope)
        elif not options.kind and kind in ("synthesis", "how") and rewrite.used_turns:
            # "[2]?" is a request for a summary once it is known what [2] was.
            kind = request_kind(rewrite.search_query, options.scope)
        if kind == "list":
            # In whatever words papers are asked for, the same are found.
            rewrite = replace(rewrite, search_query=asked_as_list(rewrite.search_query))
        return replace(rewrite, kind=kind)

    def _is_refused_anyway(self, rewrite: Rewrite, options: AskOptions) -> bool:
        """Return True if a question is refused as it stands, so that no model need be asked to rewrite it."""
        if not isinstance(self.generator, SampledGenerator):
            return False
        papers = retrieve(self.corpus, self.encoder, rewrite, options)
        return self._cannot_answer(*self.gathered(rewrite, papers, options), options) is not None

    def _write(
        self, drafting: "_Drafting", checked: Callable[[Draft], Answer], drafts: int, log: CallLog
    ) -> Iteration[str, None, Draft]:
        """Write a draft, of several the best where the generator's drafts differ."""
        if drafts > 1 and isinstance(self.generator, SampledGenerator):
            return write_best(self.generator, drafts, drafting.begin, checked, log)
        return drafting.begin(self.generator, log)

    def _checker(
        self, rewrite: Rewrite, papers: tuple[PaperHits, ...], evidence: Evidence, options: AskOptions
    ) -> "_Checker":
        """Return a function that checks drafts against the evidence their writer was given."""
        scope = options.scope
        searched, question, query = self._described(scope), rewrite.question, rewrite.searched_for
        usual: Mend = "claims" if options.careful else "citations" if options.finds_citations else "nothing"

        def checked(draft: Draft, mend: Mend = usual) -> Answer:
            given = evidence.without(draft.left_out)
            answer = check(
                draft, question, given, papers, searched, query=query, scorer=self.scorer, mend=mend
            )
            if mend == "claims" and not answer.refusal:
                own = in_third_person(answer, given)
                if own.text != answer.text:
                    return _checked_again(answer, own, checked)
            if options.names_unsaid:
                answer = with_unsaid(answer, given, self.encoder)
            # Who wrote a paper stands in none of its sentences, and cells are no sentences.
            by_whom = rewrite.kind == "list" and list_papers_by(query, given)
            if not (by_whom or is_of_rows(answer, query, given)):
                answer = with_relevance(answer, query, given, self.encoder)
            return with_coverage(answer, self.corpus, scope)

        return checked

    def _refused(
        self, reason: RefusalReason, papers: tuple[PaperHits, ...], scope: Scope, rewrite: Rewrite
    ) -> Answer:
        searched, asked = self._described(scope), self._language_asked(rewrite, scope)
        by_model = self._is_model and not rewrite.edited
        stated = asked.refusal(searched, by_model=by_model) if reason == "language" else ""
        refused = refuse(reason, papers, searched, query=rewrite.searched_for, stated=stated)
        return with_coverage(refused, self.corpus, scope)

    def _described(self, scope: Scope) -> str:
        """Describe the searched scope in words, such as "these 603 papers"."""
        count = self.corpus.count_papers(scope)
        return "this paper" if count == 1 else f"these {count:,} papers"


class _Checker(Protocol):
    """Makes a checked answer of a draft."""

    def __call__(self, draft: Draft, mend: Mend = ...) -> Answer: ...


def _checked_again(answer: Answer, rewritten: OwnWords, checked: _Checker) -> Answer:
    """Return an answer's new text checked, with what was found out about its draft."""
    again = checked(Draft(rewritten.text), mend="nothing")
    return replace(
        again,
        sentences=with_found(again.sentences, claims_of(again, rewritten.found)),
        problems=tuple(dict.fromkeys((*answer.problems, *again.problems))),
        not_carried=answer.not_carried,
    )


def _is_better(answer: Answer, standing: Answer, kind: RequestKind) -> bool:
    """Return True if a small model's checked answer is to be shown, and not the extractive one."""
    if answer.refusal:
        return False
    if kind in TELLS_OF_SEVERAL and _tells_of_fewer(answer, standing):
        return False
    relevance, other = answer.relevance or 0.0, standing.relevance or 0.0
    if is_off(answer):
        return relevance >= other
    if answer.not_carried:
        return kind != "comparison" and relevance >= NEARLY * other
    return True


def _tells_of_fewer(answer: Answer, standing: Answer) -> bool:
    return len(answer.cited_labels) < len(standing.cited_labels)


def _remark(answer: Answer, standing: Answer) -> str:
    """Return why an answer was not used, in words for its reader."""
    if answer.refusal:
        return answer.refusal.message
    if is_off(answer):
        return "What it wrote may miss the question."
    if answer.not_carried:
        return "The papers support only part of what it wrote."
    if _tells_of_fewer(answer, standing):
        return "It wrote of fewer papers than this answer does."
    return "It names none of the papers that fit."


def _last_of(pieces: Iteration[str, None, Draft]) -> Draft:
    """Return the draft that pieces come to."""
    with closing(pieces):
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                return cast(Draft, end.value)


@dataclass(frozen=True, slots=True)
class _Drafting:
    """The input shared by all drafts of an answer."""

    rewrite: Rewrite
    history: tuple[Turn, ...]
    evidence: Evidence

    def begin(self, generator: Generator, log: CallLog) -> Iteration[str, None, Draft]:
        return generator.write_draft(self.rewrite, self.history, self.evidence, log)


class _Run:
    """One question on its way: its calls and the time of its steps."""

    def __init__(self, question: str, options: AskOptions, provenance: Provenance) -> None:
        self.log = CallLog()
        self.hits: tuple[ScoredPassage, ...] = ()
        self.second_searches: tuple[SecondSearch, ...] = ()
        self._question = question
        self._options = options
        self._provenance = provenance
        self._asked = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._times: list[StepTime] = []

    def timed(self, step: Step, work: Callable[[], Result]) -> Result:
        """Run `work`, add its seconds to those of `step`, and return its result."""
        clock = time.perf_counter()
        result = work()
        before = next((one for one in self._times if one.step == step), StepTime(step, 0.0))
        self._times = [one for one in self._times if one.step != step]
        self._times.append(StepTime(step, before.seconds + time.perf_counter() - clock))
        return result

    def write(self, pieces: Iteration[str, None, Draft]) -> Iteration[Event, None, Draft]:
        """Yield the pieces of a draft as events, then return it."""
        clock = time.perf_counter()
        with closing(pieces):
            while True:
                try:
                    piece = next(pieces)
                except StopIteration as end:
                    self._times.append(StepTime("write", time.perf_counter() - clock))
                    return cast(Draft, end.value)
                yield Written(piece)

    def turn(self, rewrite: Rewrite, evidence: Evidence, answer: Answer) -> Turn:
        return Turn(
            question=self._question,
            asked=self._asked,
            scope=self._options.scope,
            papers_wanted=self._options.papers,
            rewrite=rewrite,
            hits=self.hits,
            evidence=evidence,
            answer=answer,
            calls=self.log.calls,
            seconds=tuple(self._times),
            provenance=self._provenance,
            drafts=self._options.drafts,
            in_context=self._options.in_context,
            passages=self._options.passages,
            finds_citations=self._options.finds_citations,
            careful=bool(self._options.careful),
            names_unsaid=self._options.names_unsaid,
            second_searches=self.second_searches,
        )

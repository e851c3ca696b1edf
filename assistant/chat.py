"""The assistant: the only composition of corpus, encoder and generator."""

import time
from collections.abc import Callable, Iterator
from collections.abc import Generator as Iteration
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar, cast

from assistant.admission import admit
from assistant.checking.answer import check
from assistant.checking.entailment import open_scorer
from assistant.checking.mending.carried import Mend
from assistant.checking.phrases.sentences import with_unsaid
from assistant.checking.refusal import refuse, with_coverage
from assistant.checking.scores.registry import ANSWERING_SCORES, measure_scores
from assistant.checking.scores.relevance import Answering
from assistant.generators.best_of import write_best
from assistant.generators.choice import open_stand_in
from assistant.generators.protocol import Generator
from assistant.models.protocol import relay
from assistant.own_words import in_third_person
from assistant.provenance import provenance_of
from assistant.questions.plan import QuestionPlan, plan_question
from assistant.ranking.evidence import RankedEvidence
from assistant.ranking.gate import cannot_answer
from assistant.ranking.one_paper import ABOUT, meant_paper
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
from assistant.retrieve import gather_evidence, retrieve
from assistant.second_search import SecondSearcher, scored
from assistant.stand_in import Checker, StandIn, check_again
from corpus.encoders.base import Encoder
from corpus.records import PaperHits, Scope
from corpus.store.corpus import Corpus

Result = TypeVar("Result")


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
        run = self._begin(admit(question, options, self.corpus, history), history, options)
        plan = run.timed("rewrite", lambda: self._plan(run))
        yield Rewritten(plan.rewrite)
        yield Retrieved(run.timed("retrieve", lambda: self._retrieve(run, plan)))
        evidence = run.timed("retrieve", lambda: self._gather(run, plan))
        if run.second_searches:
            yield Retrieved(run.papers, run.second_searches)
        if reason := run.timed("retrieve", lambda: self._cannot_answer(evidence, run.options)):
            yield Answered(
                run.turn(evidence.plan.rewrite, Evidence(), self._refuse(reason, evidence.plan, run))
            )
        else:
            yield from self._write_and_check(run, evidence)

    def answer(
        self, question: str, history: tuple[Turn, ...] = (), options: AskOptions | None = None
    ) -> Turn:
        """Return the turn that `ask` ends with; raises what `ask` raises."""
        *_, last = self.ask(question, history, options or AskOptions())
        return cast(Answered, last).turn

    def gather(
        self, plan: QuestionPlan, papers: tuple[PaperHits, ...], options: AskOptions
    ) -> RankedEvidence:
        """Return the ranked evidence; for a summary, the passages of one paper on the part asked for.

        If no paper found is the one that a summary is asked of, the question is treated as one on several.
        """
        evidence = gather_evidence(self.corpus, papers, in_context=options.in_context)
        if plan.kind == "summary":
            if paper := meant_paper(plan.query, evidence):
                all_passages = self.corpus.passages(paper.paper.id)
                on_part = passages_of_part(paper.paper, all_passages, plan.part or ABOUT)
                by_number = {passage.number: passage for passage in (*on_part, *paper.passages)}
                passages = tuple(by_number[number] for number in sorted(by_number))
                evidence = Evidence((replace(paper, passages=passages),))
            else:
                plan = plan.with_kind("how")
        read = [passage for paper in evidence.papers for passage in paper.passages]
        return RankedEvidence(plan, evidence, self.encoder, self.corpus.sentence_vectors(read))

    def _begin(self, question: str, history: tuple[Turn, ...], options: AskOptions) -> "_Run":
        """Return the run of a question, with unset options resolved by the writer."""
        writer = self.generator
        is_careful = writer.is_small if options.careful is None else options.careful
        searches_again = writer.searches_again if options.searches_again is None else options.searches_again
        # The extractive writer would quote context that only helps to read other passages.
        options = replace(
            options,
            in_context=options.in_context and writer.writes_freely,
            finds_citations=options.finds_citations and writer.writes_freely,
            careful=is_careful and writer.writes_freely,
            searches_again=searches_again,
        )
        return _Run(question, history, options, provenance_of(self.corpus, writer.name, self.scorer.name))

    def _plan(self, run: "_Run") -> QuestionPlan:
        return plan_question(
            run.question,
            run.history,
            run.options,
            corpus=self.corpus,
            encoder=self.encoder.name,
            rewrite_question=lambda: self.generator.rewrite_question(run.question, run.history, run.log),
            is_refused=lambda plan: self._is_refused_anyway(plan, run.options),
        )

    def _is_refused_anyway(self, plan: QuestionPlan, options: AskOptions) -> bool:
        """Return True if the question would be refused without a rewrite, so that no model need be asked."""
        if not self.generator.asks_model:
            return False
        papers = retrieve(self.corpus, self.encoder, plan.rewrite, options)
        return self._cannot_answer(self.gather(plan, papers, options), options) is not None

    def _retrieve(self, run: "_Run", plan: QuestionPlan) -> tuple[PaperHits, ...]:
        run.papers = retrieve(self.corpus, self.encoder, plan.rewrite, run.options)
        run.hits = scored(run.papers)
        return run.papers

    def _gather(self, run: "_Run", plan: QuestionPlan) -> RankedEvidence:
        """Return the evidence of the first search, and of second searches for open parts."""
        evidence = self.gather(plan, run.papers, run.options)
        if run.options.searches_again:
            searcher = SecondSearcher(self.corpus, self.encoder, self.generator, run.options, self.gather)
            run.papers, evidence, run.second_searches = searcher.search(run.papers, evidence, run.log)
        return evidence

    def _cannot_answer(self, evidence: RankedEvidence, options: AskOptions) -> RefusalReason | None:
        plan = evidence.plan
        if plan.is_of_unnamed_paper and self.corpus.count_papers(options.scope) > 1:
            return "which_paper"
        if evidence.papers and not plan.asked_in.is_read:
            return "language"
        # A small model writes an answer from any evidence, so the stricter gate applies to it.
        return cannot_answer(evidence, by_model=self.generator.writes_freely and not options.careful)

    def _refuse(self, reason: RefusalReason, plan: QuestionPlan, run: "_Run") -> Answer:
        searched = self._described(run.options.scope)
        by_model = self.generator.writes_freely and not plan.rewrite.edited
        stated = plan.asked_in.refusal(searched, by_model=by_model) if reason == "language" else ""
        refused = refuse(reason, run.papers, searched, query=plan.query, stated=stated)
        return with_coverage(refused, self.corpus, run.options.scope)

    def _write_and_check(self, run: "_Run", ranked: RankedEvidence) -> Iterator[Event]:
        """Yield the draft and its checked answer; before a slow model's draft, the extractive answer."""
        rewrite, evidence = ranked.plan.rewrite, ranked.evidence
        check_draft, is_slow = self._checker(run, ranked), self.generator.is_slow
        stand_in = StandIn(open_stand_in(self.encoder), ranked, run.history, check_draft)
        extractive = None
        if is_slow or run.options.careful:
            extractive = run.timed("retrieve", lambda: stand_in.answer)
        if run.options.careful and extractive and extractive.refusal:
            yield Answered(run.turn(rewrite, evidence, extractive))
            return
        quick = extractive if is_slow and extractive and not extractive.refusal else None
        if quick:
            yield Quick(run.turn(rewrite, evidence, quick))
        draft = yield from run.write(self._write(run, ranked, check_draft))
        yield Checking()
        answer = run.timed(
            "check", lambda: stand_in.improve(check_draft(draft), self.generator.name, run.options)
        )
        yield Answered(run.turn(rewrite, evidence, answer, quick))

    def _write(
        self, run: "_Run", ranked: RankedEvidence, check_draft: Checker
    ) -> Iteration[str, None, Draft]:
        """Write a draft, or several if a model writes, and return the best."""

        def begin(writer: Generator, log: CallLog) -> Iteration[str, None, Draft]:
            return writer.write_draft(ranked, run.history, log)

        if run.options.drafts > 1 and self.generator.asks_model:
            return write_best(self.generator, run.options.drafts, begin, check_draft, run.log)
        return begin(self.generator, run.log)

    def _checker(self, run: "_Run", ranked: RankedEvidence) -> Checker:
        """Return a function that checks drafts against the evidence their writer was given."""
        options, plan, papers = run.options, ranked.plan, run.papers
        searched = self._described(options.scope)
        usual: Mend = "claims" if options.careful else "citations" if options.finds_citations else "nothing"

        def check_draft(draft: Draft, mend: Mend = usual) -> Answer:
            shown = ranked.without(draft.left_out)
            answer = check(
                draft,
                plan.rewrite.question,
                shown.evidence,
                papers,
                searched,
                query=plan.query,
                scorer=self.scorer,
                mend=mend,
            )
            if mend == "claims" and not answer.refusal:
                rephrased = in_third_person(answer, shown.evidence)
                if rephrased.text != answer.text:
                    return check_again(answer, rephrased, check_draft)
            if options.names_unsaid:
                answer = with_unsaid(answer, shown.evidence, self.encoder)
            # These scores are of sentences: they know neither authors nor cells of tables.
            if not (shown.by_author or shown.is_of_rows(answer)):
                answering = Answering(answer, plan, shown.evidence, self.encoder)
                answer = replace(answer, **measure_scores(ANSWERING_SCORES, answering))
            return with_coverage(answer, self.corpus, options.scope)

        return check_draft

    def _described(self, scope: Scope) -> str:
        """Describe the searched scope in words, such as "these 603 papers"."""
        count = self.corpus.count_papers(scope)
        return "this paper" if count == 1 else f"these {count:,} papers"


class _Run:
    """A question in progress: its history and options, what was found, its calls and step times."""

    def __init__(
        self, question: str, history: tuple[Turn, ...], options: AskOptions, provenance: Provenance
    ) -> None:
        self.question = question
        self.history = history
        self.options = options
        self.log = CallLog()
        self.papers: tuple[PaperHits, ...] = ()
        self.hits: tuple[ScoredPassage, ...] = ()
        self.second_searches: tuple[SecondSearch, ...] = ()
        self._provenance = provenance
        self._asked = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._times: list[StepTime] = []

    def timed(self, step: Step, work: Callable[[], Result]) -> Result:
        """Run `work`, add its seconds to those of `step`, and return its result."""
        clock = time.perf_counter()
        result = work()
        before = next((entry for entry in self._times if entry.step == step), StepTime(step, 0.0))
        self._times = [entry for entry in self._times if entry.step != step]
        self._times.append(StepTime(step, before.seconds + time.perf_counter() - clock))
        return result

    def write(self, pieces: Iteration[str, None, Draft]) -> Iteration[Event, None, Draft]:
        """Yield the pieces of a draft as events, then return it."""
        clock = time.perf_counter()
        draft = yield from relay(pieces, Written)
        self._times.append(StepTime("write", time.perf_counter() - clock))
        return draft

    def turn(self, rewrite: Rewrite, evidence: Evidence, answer: Answer, quick: Answer | None = None) -> Turn:
        return Turn(
            question=self.question,
            asked=self._asked,
            scope=self.options.scope,
            papers_wanted=self.options.papers,
            rewrite=rewrite,
            hits=self.hits,
            evidence=evidence,
            answer=answer,
            calls=self.log.calls,
            seconds=tuple(self._times),
            provenance=self._provenance,
            drafts=self.options.drafts,
            in_context=self.options.in_context,
            passages=self.options.passages,
            finds_citations=self.options.finds_citations,
            careful=bool(self.options.careful),
            names_unsaid=self.options.names_unsaid,
            quick=None if answer.stands_in_for else quick,
            second_searches=self.second_searches,
        )

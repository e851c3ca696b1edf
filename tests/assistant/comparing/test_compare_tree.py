"""The tree of a comparison is exactly Algorithm 1's, whatever the model writes and votes."""

import json
import threading
from collections import Counter

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from assistant.comparing.algorithm import ranked
from assistant.comparing.records import Candidate, Planned, RoundFinished, Sampled, Voted
from tests.assistant.comparing.compared_papers import (
    all_events,
    compared,
    request_for,
)
from tests.assistant.comparing.comparing_model import (
    ComparingModel,
    drafts_of,
    kind_of,
    labels_of,
    vote_reply_text,
)

PAPERS = 3


class ScriptedModel(ComparingModel):
    """Writes and votes as numbers tell it: which labels a sample drops, what a vote says."""

    def __init__(self, drops: list[int], ballots: list[int]) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self.written: list[str] = []
        self.cast: list[tuple[int, int]] = []
        self._drops, self._ballots = drops, ballots

    def _compare(self, request, number):
        with self._lock:
            drop = self._drops[len(self.written) % len(self._drops)]
            given_labels = labels_of(request)
            labels = [label for label in given_labels if label != drop] or given_labels[:1]
            text = " ".join(f"Take {len(self.written)} says that [{label}] helps." for label in labels)
            self.written.append(text)
        return text

    def _vote(self, request, number):
        with self._lock:
            drafts = drafts_of(request)
            ballot = self._ballots[len(self.cast) % len(self._ballots)] % (drafts + 2)
            self.cast.append((drafts, ballot))
        return vote_reply_text(ballot)


scripts = st.lists(st.integers(0, 4), min_size=1, max_size=7)
sizes = st.integers(1, 3)


@hypothesis_settings(max_examples=30)
@given(size=st.tuples(sizes, sizes, sizes), script=st.tuples(scripts, scripts))
def test_rounds_are_those_of_algorithm_1(comparing, size, script):
    (samples, votes, keep), model = size, ScriptedModel(*script)
    with comparing(model) as (server, comparer):
        made = compared(comparer, request_for(PAPERS, samples=samples, votes=votes, keep=keep))
    kinds = Counter(kind_of(request) for request in server.requests)
    before: list[int | None] = [None]
    texts: dict[int | None, str] = {None: ""}
    for number, round_ in enumerate(made.rounds, start=1):
        assert (round_.number, round_.labels) == (number, (number,))
        assert [candidate.number for candidate in round_.candidates] == list(
            range(1, len(before) * samples + 1)
        )
        assert [candidate.parent for candidate in round_.candidates] == [
            parent for parent in before for _ in range(samples)
        ]
        assert len(round_.votes) == (votes if len(round_.candidates) > 1 else 0), "none on a single candidate"
        tally = Counter(vote.choice for vote in round_.votes)
        assert all(candidate.votes == tally[candidate.number] for candidate in round_.candidates)
        assert list(round_.kept) == [c.number for c in ranked(round_.candidates)][:keep]
        most = max(candidate.votes for candidate in round_.candidates)
        assert round_.survivors[0].votes == most
        for candidate in round_.candidates:
            parent_labels = {label for label in range(1, number) if f"[{label}]" in texts[candidate.parent]}
            due = parent_labels | {number}
            assert set(candidate.lost) == {label for label in due if f"[{label}]" not in candidate.text}
        before = list(round_.kept)
        texts = {candidate.number: candidate.text for candidate in round_.survivors}
    assert len(made.rounds) == PAPERS
    assert made.answer.text == made.rounds[-1].survivors[0].text
    assert kinds["elements"] == PAPERS + 1
    assert kinds["compare"] == sum(len(round_.candidates) for round_ in made.rounds)
    assert sorted(model.written) == sorted(c.text for round_ in made.rounds for c in round_.candidates)
    _assert_ballots(model, made)


def _assert_ballots(model: ScriptedModel, made) -> None:
    """Every ballot that names a draft counts once; one that does not is asked for again, then discarded."""
    usable = [ballot for drafts, ballot in model.cast if 1 <= ballot <= drafts]
    votes = [vote for round_ in made.rounds for vote in round_.votes]
    counted = [vote for vote in votes if vote.choice is not None]
    assert len(counted) == len(usable)
    assert all(vote.problem for vote in votes if vote.choice is None)
    assert len(made.calls) == len(model.written) + len(model.cast) + PAPERS + 1


def test_ties_are_broken_by_marks_then_precision_then_age():
    young = Candidate(4, 1, "", citation_precision=0.9, votes=2)
    precise = Candidate(3, 1, "", citation_precision=1.0, votes=2)
    lossy = Candidate(1, 1, "", lost=(2,), citation_precision=1.0, votes=2)
    old = Candidate(2, 1, "", citation_precision=0.9, votes=2)
    winner = Candidate(5, 2, "", lost=(1,), citation_precision=0.0, votes=3)
    assert [candidate.number for candidate in ranked([young, precise, lossy, old, winner])] == [5, 3, 2, 4, 1]


def test_events_come_in_the_order_of_the_work(comparing):
    with comparing(ComparingModel()) as (_, comparer):
        events = all_events(comparer, request_for(2, samples=2, votes=1, keep=1))
    assert isinstance(events[0], Planned)
    told = [type(event) for event in events if isinstance(event, Sampled | Voted | RoundFinished)]
    assert told == [Sampled, Sampled, Voted, RoundFinished] * 2


def test_the_budget_counts_every_call(comparing):
    with comparing(ComparingModel()) as (server, comparer):
        request = request_for(10)
        planned = comparer.plan(request)
        assert server.requests == []
        made = compared(comparer, request)
    # 11 texts; 2, 4 and eight times 6 samples; five votes in each of ten rounds.
    assert planned.budget.calls == 11 + 54 + 50 == len(server.requests) == len(made.calls)
    assert planned.budget.most_calls == 54 + 2 * 61
    assert planned.budget.prompt_tokens > sum(
        len(json.dumps(request.body["messages"])) // 4 for request in server.requests
    )


class PatientModel(ComparingModel):
    """Answers no call of a step before as many have come as can be under way at once."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._steps: dict[tuple[str, int], threading.Barrier] = {}

    def __call__(self, request):
        kind = kind_of(request)
        place = 0 if kind == "elements" else len(labels_of(request))
        at_once = {"elements": 11, "vote": 5, "compare": min(2 * place, 6)}[kind]
        with self._lock:
            step = self._steps.setdefault((kind, place), threading.Barrier(at_once))
        step.wait(60)
        return super().__call__(request)


def test_what_can_run_at_once_does(comparing):
    """Ten papers take as long as one extraction and ten times a sample and a vote, not as 115 calls."""
    with comparing(PatientModel()) as (server, comparer):
        compared(comparer, request_for(10))
    assert len(server.requests) == 115

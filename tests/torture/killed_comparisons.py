"""Comparisons killed at random moments and gone on with, by the command that an operator types."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from assistant.commands.opening import OWNER
from assistant.comparing.records import Comparison
from assistant.storage.comparisons import ComparisonStore, StoredComparison
from corpus.settings import Settings
from tests.assistant.comparing.comparing_model import ComparingModel, vote_reply_text
from tests.demo_home import PROJECT, build_demo_home
from tests.standin_chat import StandinChat
from tests.torture.counts import Counts
from tests.torture.running_app import with_model

PAPERS = tuple(f"field-notes-retrieval/{name}" for name in ("bm25", "rank-fusion", "late-interaction"))
PLAN = (*PAPERS, "--about", "How they rank.", "--generator", "standin", "--samples", "2", "--votes", "2")
SECONDS_PER_REPLY = 0.2
# After the first reply; the whole takes about as long.
LONGEST_WAIT = 4.0
# Each is killed so often, and then gone on with to its end.
KILLS_A_COMPARISON = 3


def killed_comparisons(seed: int, kills: int, home: Path | None = None) -> Counts:
    """Kill comparisons of papers of a home, by default the demonstration's."""
    counts, drawn = Counts("comparisons killed"), random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = home or build_demo_home(folder)
        whole = _Comparing(corpus, folder / "whole", counts)
        whole.torture(drawn, 0)
        while counts.tried < kills:
            killed = _Comparing(corpus, folder / f"killed-{counts.tried}", counts)
            killed.torture(drawn, min(KILLS_A_COMPARISON, kills - counts.tried))
            killed.compare(whole)
    return counts


class _Comparing:
    """One comparison with a home, a database and a model of its own, which writes the same to the same."""

    def __init__(self, home: Path, folder: Path, counts: Counts) -> None:
        self.folder, self.counts = folder, counts
        self.killed = 0
        # Without what was read of papers for other comparisons.
        shutil.copytree(home, folder / "home", ignore=shutil.ignore_patterns("elements*"))
        self.database = f"sqlite:///{folder / 'comparisons.sqlite'}"
        model = ComparingModel(SECONDS_PER_REPLY, _summary, lambda _: vote_reply_text(1))
        self.model = StandinChat(default=model)

    def torture(self, drawn: random.Random, kills: int) -> None:
        with self.model:
            for _ in range(kills):
                self.kill_once(drawn)
            process = self.start()
            said = process.communicate()[0].decode(errors="replace")
        if process.returncode:
            self.counts.note("unexplained", f"it ended with {process.returncode}: {said[-300:]}")

    def kill_once(self, drawn: random.Random) -> None:
        before, process = len(self.model.requests), self.start()
        # A comparison that is over asks nothing more.
        while len(self.model.requests) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(drawn.uniform(0.0, LONGEST_WAIT))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.killed += 1
        self.counts.tried += 1

    def start(self) -> "subprocess.Popen[bytes]":
        """Begin the comparison, or go on with it where it is stored already."""
        found = self.stored()
        plan = ("--resume", found.id) if found else PLAN
        settings = {
            "PAPER_TRAIL_HOME": str(self.folder / "home"),
            "PAPER_TRAIL_CONVERSATIONS": self.database,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "assistant", "compare", *plan, "--yes"],
            cwd=PROJECT,
            env={**os.environ, **settings, **with_model(self.folder, self.model.url)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def stored(self) -> StoredComparison | None:
        with closing(ComparisonStore.open(Settings(conversations=self.database))) as store:
            listed = store.list(OWNER)
            if len(listed) > 1:
                self.counts.note("doubled", f"{len(listed)} comparisons are stored")
            return store.get(listed[0].id) if listed else None

    def finished(self) -> Comparison | None:
        found = self.stored()
        return found.comparison if found else None

    def compare(self, whole: "_Comparing") -> None:
        """Look whether it has come to the same as one that was not killed, and paid for no reply twice."""
        found, wanted = self.finished(), whole.finished()
        assert wanted, "the undisturbed comparison is not finished"
        if found is None:
            self.counts.note("lost", "it is not finished")
        elif (found.answer.text, len(found.calls)) != (wanted.answer.text, len(wanted.calls)):
            self.counts.note("corrupted", f"{len(found.calls)} calls for {len(wanted.calls)}")
        # Requests under way at a kill are lost and made again: at most one for each paper. The model may see
        # fewer at once, where a call has its reply and has not stored it yet.
        most = len(whole.model.requests) + self.killed * len(PAPERS)
        if (asked := len(self.model.requests)) > most:
            self.counts.note("doubled", f"{asked} replies were paid for, {most} at most are explained")


def _summary(labels: list[int], number: int) -> str:
    return " ".join(f"Reference {label} studies how documents are ranked [{label}]." for label in labels)

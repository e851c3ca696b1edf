"""A model as judge of what several systems wrote on the same thing, and how far it agrees with people."""

from evaluation.judging.agreement import Agreement, Level, Marked, agreement, agreement_table
from evaluation.judging.figures import JudgedSystem, JudgeFigures, judge_figures, judge_table, mean_marks
from evaluation.judging.judge import Ballot, Judge, JudgeVote, Mark, judgement, open_judge, shown_orders
from evaluation.judging.material import COHERENCE, FLUENCY, RULES, between, numbered, qualities, relabelled

__all__ = [
    "COHERENCE", "FLUENCY", "RULES", "Agreement", "Ballot", "Judge", "JudgeFigures", "JudgeVote",
    "JudgedSystem", "Level", "Mark", "Marked", "agreement", "agreement_table", "between", "judge_figures",
    "judge_table", "judgement", "mean_marks", "numbered", "open_judge", "qualities", "relabelled",
    "shown_orders"
]  # fmt: skip

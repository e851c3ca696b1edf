"""Answers of several systems to the same questions, marked by a model (GenGO Ultra, Table 4)."""

from evaluation.answers.judge.report import AskedToJudge, JudgedAnswers, judge_answers, judge_tables

__all__ = ["AskedToJudge", "JudgedAnswers", "judge_answers", "judge_tables"]

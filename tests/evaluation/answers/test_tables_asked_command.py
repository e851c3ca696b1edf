"""Answers to questions about cells, counted by the row of the table that they cite."""

from evaluation.answers.table_questions import TABLE_QUESTIONS, TableQuestion
from evaluation.input_files import read_json_lines

# Each with the paper, the row and the value that are wanted, of which not all are what the tables say.


def test_the_questions_are_of_other_papers_than_those_that_were_worked_on() -> None:
    rows = read_json_lines(TABLE_QUESTIONS, TableQuestion, "")
    assert len({row.question for row in rows}) == len(rows) >= 30
    seen = {"A97-1028", "I08-4009", "P05-1053", "P06-1141", "W09-1007", "W10-1012", "W10-1727"}
    assert not seen & {row.paper for row in rows}

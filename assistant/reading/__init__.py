"""Sentences of papers read on their own: their part in the paper, and their retelling."""

from assistant.reading.cells import AskedCells, asked_cells
from assistant.reading.cues import Role, version
from assistant.reading.finding import CandidateSentence, find_elements, is_own, read_roles, read_sentences
from assistant.reading.parts import passages_of_part, sentences_of_part
from assistant.reading.standing_alone import (
    can_stand_alone,
    has_lost_a_name,
    has_no_antecedent,
    is_back_matter,
    is_quotable,
    leans,
    numbers_beside,
    points_away,
    points_back,
    read_with,
)
from assistant.reading.telling import (
    brackets,
    in_third_person,
    plain,
    short_title,
    speaks_of_itself,
    subject_of,
    told,
    without_lead,
)

__all__ = [
    "AskedCells", "CandidateSentence", "Role", "asked_cells", "brackets", "can_stand_alone",
    "find_elements", "has_lost_a_name", "has_no_antecedent", "in_third_person", "is_back_matter", "is_own",
    "is_quotable", "leans",
    "numbers_beside", "passages_of_part", "plain", "points_away", "points_back", "read_roles",
    "read_sentences", "read_with", "sentences_of_part", "short_title", "speaks_of_itself", "subject_of",
    "told", "version", "without_lead"
]  # fmt: skip

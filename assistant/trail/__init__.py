"""Records as files that read back equal, and doing them again."""

from assistant.trail.comparison_file import (
    COMPARISON,
    COMPARISON_VERSION,
    call_from_json,
    call_to_json,
    comparison_from_json,
    comparison_schema,
    comparison_to_json,
    trail_from_json,
)
from assistant.trail.comparison_replay import ComparisonReplay, replay_comparison
from assistant.trail.imports import ImportKind, check_import, read_checked
from assistant.trail.papers_named import library_named
from assistant.trail.replay import Replayer, TurnReplay
from assistant.trail.transcript import (
    TRANSCRIPT_VERSION,
    from_json,
    to_json,
    transcript_schema,
    turn_from_json,
    turn_to_json,
)

__all__ = [
    "COMPARISON", "COMPARISON_VERSION", "TRANSCRIPT_VERSION", "ComparisonReplay", "ImportKind", "Replayer",
    "TurnReplay", "call_from_json", "call_to_json", "check_import", "comparison_from_json",
    "comparison_schema", "comparison_to_json", "from_json", "library_named", "read_checked",
    "replay_comparison", "to_json", "trail_from_json", "transcript_schema", "turn_from_json", "turn_to_json"
]  # fmt: skip

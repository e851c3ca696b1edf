"""Work in threads of its own, which screens look at."""

from explorer.jobs.comparison import (
    UNKEPT,
    ComparisonJob,
    ComparisonKeeper,
    ComparisonView,
    comparison_runner,
)
from explorer.jobs.question import (
    Keep,
    Kept,
    QuestionJob,
    QuestionView,
    TurnKeeper,
    may_succeed_again,
    question_runner,
)
from explorer.jobs.rate_limit import (
    ADDRESS_HEADER,
    COMPARISON_COST,
    EXPORT_COST,
    Allowed,
    Caller,
    OwnBuckets,
    RateLimit,
    SharedBuckets,
    TooSoonError,
)
from explorer.jobs.runner import (
    JobRunner,
    JobState,
    Share,
    ShareTakenError,
    StoppingError,
    TooManyJobsError,
    is_ending,
    jobs_under_way,
    stopping,
)

__all__ = [
    "ADDRESS_HEADER", "COMPARISON_COST", "EXPORT_COST", "UNKEPT", "Allowed", "Caller", "ComparisonJob",
    "ComparisonKeeper", "ComparisonView", "JobRunner", "JobState", "Keep", "Kept", "OwnBuckets",
    "QuestionJob", "QuestionView", "RateLimit", "Share", "ShareTakenError", "SharedBuckets",
    "StoppingError", "TooManyJobsError", "TooSoonError", "TurnKeeper", "comparison_runner",
    "is_ending", "jobs_under_way", "may_succeed_again", "question_runner", "stopping"
]  # fmt: skip

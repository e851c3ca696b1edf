"""Questions in, cited answers out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.chat import Assistant


def open_assistant(writer: str = "extractive") -> "Assistant":
    """Open an assistant on the published corpus that the settings name.

    Raises CorpusError without a usable corpus, and AssistantError for an unknown writer.
    """
    # Whoever needs one room of the package is not to wait for all of them.
    from assistant.serving.library import PublishedLibrary  # noqa: PLC0415

    return PublishedLibrary().now().assistant(writer)

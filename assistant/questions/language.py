"""The language of a question, and whether the papers can be searched without translating it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assistant.records import Rewrite
from corpus.encoders.languages import encoder_languages, reads_language
from corpus.language.identified import UNTOLD, foreign_language
from corpus.language.names import language_name, language_names
from corpus.language.stemming import ENGLISH
from corpus.records import Scope
from corpus.store.corpus import Corpus

_MULTILINGUAL = "intfloat/multilingual-e5-small"


@dataclass(frozen=True, slots=True)
class AskedLanguage:
    """A question's language, and the languages of the encoder and the papers in scope.

    `code` is "" for English or if unsure. `papers` counts the papers in scope by language, `total` all of
    them; both are set only if `code` is.
    """

    code: str = ""
    encoder: str = ""
    papers: Mapping[str, int] = field(default_factory=dict)
    total: int = 0

    @property
    def is_read(self) -> bool:
        """Return True if the encoder reads the language, or papers are in it."""
        return not self.code or self.code in self.papers or reads_language(self.encoder, self.code)

    def is_searched_as_asked(self, *, follows: bool) -> bool:
        """Return True if no translation is needed: most papers are in the language, or the encoder reads it.

        A follow-up that the encoder could read is still rewritten by a model, in English.
        """
        is_of_most = self.papers.get(self.code, 0) * 2 > self.total
        return is_of_most or (not follows and reads_language(self.encoder, self.code))

    def refusal(self, searched: str, *, by_model: bool) -> str:
        """Return the refusal for a question that finds nothing; `by_model`: a model was to translate it."""
        language = language_name(self.code) if self.code != UNTOLD else "another language than English"
        read = language_names(encoder_languages(self.encoder) - {UNTOLD})
        held = language_names(frozenset(filter(None, self.papers)) or frozenset({ENGLISH}))
        seems = (
            f"The question seems to be in {language}. The papers are in {held}, and the encoder, "
            f"{Path(self.encoder).name}, reads {read}"  # A folder's path is nothing to readers.
        )
        if by_model:
            return (
                f"{seems}. The model's reply was no translation, so nothing was looked for in {searched}. "
                "Ask in English, or ask again."
            )
        return (
            f"{seems}: whether something in {searched} answers it cannot be told. Ask in English, or have a "
            "model answer, which translates the question. Whoever runs this server can index the papers with "
            f"an encoder of many languages (PAPER_TRAIL_ENCODER={_MULTILINGUAL})."
        )


def read_language(rewrite: Rewrite, encoder: str, corpus: Corpus, scope: Scope) -> AskedLanguage:
    """Return the language of the question, or of the query if a reader or translator wrote that."""
    is_made = rewrite.edited or rewrite.language
    code = foreign_language(rewrite.searched_for if is_made else rewrite.question)
    if not code:
        return AskedLanguage()
    papers = corpus.statistics.language_counts(scope)
    return AskedLanguage(code, encoder, papers, corpus.count_papers(scope))

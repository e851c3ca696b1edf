"""The language a question is in, and whether it can be looked for in the papers as it is asked."""

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
    """A question's language where it is surely not English, "" else, with what can find it in a scope.

    `papers` are the numbers of papers in the scope by their language, `total` that of all of them; both are
    counted only where `code` is set.
    """

    code: str = ""
    encoder: str = ""
    papers: Mapping[str, int] = field(default_factory=dict)
    total: int = 0

    @property
    def is_read(self) -> bool:
        """Return True if something may be found, by the encoder or by the words of papers in the language."""
        return not self.code or self.code in self.papers or reads_language(self.encoder, self.code)

    def is_searched_as_asked(self, *, follows: bool) -> bool:
        """Return True if no translation is needed: most papers are in it, or the encoder reads it.

        What follows other turns is put into words by a model, in English, where the encoder reads both.
        """
        is_of_most = self.papers.get(self.code, 0) * 2 > self.total
        return is_of_most or (not follows and reads_language(self.encoder, self.code))

    def refusal(self, searched: str, *, by_model: bool) -> str:
        """Return the refusal for a question that finds nothing; `by_model`: a model was to translate it."""
        asked = language_name(self.code) if self.code != UNTOLD else "another language than English"
        read = language_names(encoder_languages(self.encoder) - {UNTOLD})
        held = language_names(frozenset(filter(None, self.papers)) or frozenset({ENGLISH}))
        seems = (
            f"The question seems to be in {asked}. The papers are in {held}, and the encoder, "
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
    """Return the language of what is searched for: a question's, or that of a query which was made of it."""
    is_made = rewrite.edited or rewrite.language
    code = foreign_language(rewrite.searched_for if is_made else rewrite.question)
    if not code:
        return AskedLanguage()
    papers = corpus.statistics.language_counts(scope)
    return AskedLanguage(code, encoder, papers, corpus.count_papers(scope))

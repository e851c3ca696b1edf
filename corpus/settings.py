"""The settings: environment variables PAPER_TRAIL_*, read once, and the folders of the product."""

import logging
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    Field,
    IPvAnyNetwork,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from corpus.errors import CorpusError
from corpus.places.address import is_address, place_of_address
from corpus.places.cache import FileCache
from corpus.places.folder import Folder
from corpus.places.place import Place
from corpus.records import FEWEST_WORDS, MOST_WORDS, PassageSize

PROJECT = Path(__file__).resolve().parent.parent
"""The checkout, or the folder that the product is installed in."""

_DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
DEFAULT_HOME = PROJECT / "home" if (PROJECT / "pyproject.toml").exists() else _DATA / "paper-trail"
"""The folder `home` of a checkout; an installed product writes nothing beside its code."""

OcrChoice = Literal["auto", "rapidocr", "tesseract", "off"]
BUNDLED_ENCODER = "all-MiniLM-L6-v2"

logger = logging.getLogger(__name__)


# Variables that compose.yaml takes from the same environment.
_OF_CONTAINERS = ("PAPER_TRAIL_HOSTS", "PAPER_TRAIL_DATABASE_PASSWORD", "PAPER_TRAIL_COOKIE_SECRET")
_PREFIX, _ALIKE = "PAPER_TRAIL_", 0.8
_HOST_AND_PORT = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>[0-9]{1,5})")
LAST_PORT = 65_535
# Of a key, and of the name that it may have.
_KEY, _KEY_NAME = re.compile(r"[A-Za-z0-9_-]{16,200}"), re.compile(r"[A-Za-z0-9_.-]{1,40}")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A program's key to the API; `questions` in ten minutes, None for the limit of a visitor."""

    name: str
    secret: SecretStr
    questions: int | None = None


class _InHome:
    """A file or folder of the product, by its name in `home`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, settings: "Settings", _owner: type) -> Path:
        return settings.home / self._name


class _InPlace:
    """A file or folder of the corpus, by its name in the corpus's place."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, settings: "Settings", _owner: type) -> Place:
        return settings.place / self._name


class Settings(BaseSettings):
    """The product's settings; the folder `home` holds the corpus and everything else that is kept.

    If PAPER_TRAIL_HOME is an `address`, the corpus and its files lie there, and `home` is the folder `local`
    of this machine for the rest.
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        ignored_types=(_InHome, _InPlace),
    )

    home: Path = DEFAULT_HOME
    address: str = ""  # of PAPER_TRAIL_HOME, if that is not a folder
    local: Path = DEFAULT_HOME
    cache: Path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paper-trail"
    cache_gb: float = Field(default=10, gt=0, allow_inf_nan=False)
    encoder: str = BUNDLED_ENCODER
    encoder_runtime: Literal["auto", "torch", "onnx-int8"] = "auto"
    entailment: str = ""
    learned: Path | None = None
    together_api_key: SecretStr = Field(default=SecretStr(""), validation_alias="TOGETHER_API_KEY")
    model_url: str = ""
    model_api_key: SecretStr = SecretStr("")
    # Seconds to the first token of a reply, and between two tokens of it.
    model_timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    model_silence: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    model_reading_seconds: float = Field(default=8.0, gt=0, allow_inf_nan=False)
    model_calls: int = Field(default=16, ge=1)
    model_calls_per_session: int = Field(default=6, ge=1)
    questions_per_ten_minutes: int = Field(default=20, ge=0)  # of one visitor; 0 is no limit
    documents_per_ten_minutes: int = Field(default=60, ge=0)  # brought or imported by one visitor
    upload_megabytes_per_ten_minutes: int = Field(default=200, ge=0)  # of one visitor
    limit_of_address: float = Field(default=5, ge=0)  # the allowance of one address, in visitors
    limit_of_all: float = Field(default=20, ge=0)  # and of all visitors together
    # US dollars for models, 0 is no limit; of all visitors together, and of one.
    monthly_spending: float = Field(default=0, ge=0, allow_inf_nan=False)
    monthly_spending_per_visitor: float = Field(default=0, ge=0, allow_inf_nan=False)
    stored_rows_per_visitor: int = Field(default=5_000, ge=0)
    stored_megabytes_per_visitor: int = Field(default=200, ge=0)
    stored_megabytes_of_all: int = Field(default=10_000, ge=0)  # of all visitors together; 0 is no limit
    libraries_per_person: int = Field(default=10, ge=0)  # kept of own documents; 0 is no limit
    documents_per_library: int = Field(default=100, ge=0)
    library_megabytes_per_person: int = Field(default=500, ge=0)
    files_megabytes_of_all: int = Field(default=20_000, ge=0)  # kept libraries and visits of all together
    free_disk_megabytes: int = Field(
        default=1_000, ge=0
    )  # with less nothing of visitors' is stored; 0 is no floor
    # auto: with the extractive writer and models of one's own, not with those that cost
    second_search: Literal["auto", "on", "off"] = "auto"
    models_file: Path | None = None
    local_model: str = ""
    temperature: float = Field(default=0.2, ge=0, le=2)
    top_p: float = Field(default=0.9, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=1)
    repetition_penalty: float | None = Field(default=None, gt=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    grobid_url: str = ""
    grobid_timeout: float = Field(default=180.0, gt=0, allow_inf_nan=False)
    grobid_concurrency: int = Field(default=0, ge=0)
    passage_words: int = Field(default=PassageSize().words, ge=FEWEST_WORDS, le=MOST_WORDS)
    passage_overlap: int = Field(default=0, ge=0)  # words of the passage before, whole sentences of it
    ocr: OcrChoice = "auto"  # auto: what is installed
    ocr_pages: int = Field(default=100, ge=1, le=1_000)  # of one file
    # Whether visitors' files are refused where the system cannot confine what reads them.
    sandbox: Literal["auto", "required"] = "auto"
    uploads: bool = True  # whether readers may bring documents, and import conversations and comparisons
    private_hosts: bool = False  # whether readers may have pages of hosts in this network fetched
    arxiv_url: str = "https://export.arxiv.org"
    conversations: SecretStr = SecretStr("")  # a database's URL, which may hold a password
    sign_in: Literal["auto", "required", "off"] = "auto"  # auto: where an [auth] section was ever seen
    trusted_proxies: Annotated[tuple[IPvAnyNetwork, ...], NoDecode] = ()  # whose X-Forwarded-* are believed
    api_keys: Annotated[tuple[ApiKey, ...], NoDecode] = ()  # without one there is no API
    api_requests_per_ten_minutes: int = Field(default=1_200, ge=0)  # of one key; 0 is no limit
    api_questions_at_once: int = Field(default=2, ge=1, le=64)  # of all keys, each with its share
    # Event streams of comparisons that are open in one process: of one key, and of all.
    api_streams_per_key: int = Field(default=8, ge=1)
    api_streams: int = Field(default=64, ge=1)
    stop_seconds: float = Field(default=30, ge=0, le=3_600)  # that answers under way get when told to stop
    metrics: str = ""  # HOST:PORT
    log: Literal["text", "json"] = "text"

    @model_validator(mode="before")
    @classmethod
    def _addressed(cls, values: dict[str, object]) -> dict[str, object]:
        """Move a home in a bucket to `address`: a path would lose one of its slashes."""
        home = str(values.get("home", ""))
        if not is_address(home):
            return {**values, "address": ""}
        local = {"home": values["local"]} if "local" in values else {}
        return {name: value for name, value in values.items() if name != "home"} | {"address": home} | local

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return (
            [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        )

    @field_validator("api_keys", mode="before")
    @classmethod
    def _keys(cls, value: object) -> object:
        return _keys_of(value) if isinstance(value, str) else value

    @property
    def models_folder(self) -> Path:
        """The folder of downloaded weights."""
        return self.home / "models"

    @field_validator("home", "local", "cache")
    @classmethod
    def _expanded(cls, folder: Path) -> Path:
        try:
            return folder.expanduser()
        except RuntimeError:
            raise ValueError("there is no user of that name") from None

    @field_validator("metrics")
    @classmethod
    def _place_of_metrics(cls, value: str) -> str:
        found = _HOST_AND_PORT.fullmatch(value)
        if value and not (found and 0 < int(found["port"]) <= LAST_PORT):
            raise ValueError("it has to be HOST:PORT, as 127.0.0.1:9464")
        return value

    @field_validator("passage_overlap")
    @classmethod
    def _at_most_half(cls, overlap: int, info: ValidationInfo) -> int:
        if (words := info.data.get("passage_words")) is not None:
            PassageSize(words, overlap)
        return overlap

    @property
    def passage_size(self) -> PassageSize:
        return PassageSize(self.passage_words, self.passage_overlap)

    @property
    def place(self) -> Place:
        """Return the place of the corpus and its files; raises CorpusError."""
        if not self.address:
            return Folder(self.home)
        return place_of_address(self.address, FileCache(self.cache, int(self.cache_gb * 1024**3)))

    corpus_path = _InPlace("corpus")
    pdf_path = _InPlace("pdf")
    staging_path = _InPlace("staging")
    tei_path = _InPlace("tei")
    encoder_path = _InHome("encoder")
    conversations_path = _InHome("conversations.sqlite")
    sign_in_path = _InHome("sign-in-required")
    server_key_path = _InHome("server.key")
    downloads_path = _InHome("downloads")
    replies_path = _InHome("staging")  # of models that were paid for
    measured_path = _InHome("measured.json")
    libraries_path = _InHome("libraries")


def _keys_of(value: str) -> tuple[ApiKey, ...]:
    """Return the keys of a list of KEY, NAME:KEY or NAME:KEY:QUESTIONS; no error message repeats it."""
    keys = tuple(map(_key_of, (part.strip() for part in value.split(",") if part.strip())))
    secrets = {key.secret.get_secret_value() for key in keys}
    names = [key.name for key in keys if key.name]
    if len(secrets) < len(keys) or len(set(names)) < len(names):
        raise ValueError("a key or a name stands in it twice")
    return keys


def _key_of(written: str) -> ApiKey:
    parts = written.split(":")
    name, secret, questions, *more = (*(["", *parts] if len(parts) == 1 else parts), "", "")
    if any(more) or not _KEY.fullmatch(secret):
        raise ValueError(
            "each key has to be 16 to 200 letters, digits, - and _, as KEY, NAME:KEY or NAME:KEY:QUESTIONS"
        )
    if len(parts) > 1 and not _KEY_NAME.fullmatch(name):
        raise ValueError("the name of a key has to be 1 to 40 letters, digits, -, _ and dots")
    if len(parts) > 2 and not (questions.isascii() and questions.isdigit() and len(questions) < 7):
        raise ValueError("what stands behind a key has to be a number of questions")
    return ApiKey(name, SecretStr(secret), int(questions) if questions else None)


def read_settings() -> Settings:
    """Return the settings of this environment; raises CorpusError that names the variable at fault."""
    # Every screen calls this several times: reading takes milliseconds, a check for changes is faster.
    return _settings_of(frozenset((name, os.environ[name]) for name in filter(_is_ours, os.environ)))


def _misspelt(variables: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables that are no settings, each with the most similar setting or ""."""
    known = {name.upper() for name in Settings.model_fields}
    for variable in sorted(variables):
        name = variable.upper().removeprefix(_PREFIX)
        if name not in known and variable.upper() not in _OF_CONTAINERS:
            near = get_close_matches(name, known, 1, _ALIKE)
            yield variable, f"{_PREFIX}{near[0]}" if near else ""


def _is_ours(variable: str) -> bool:
    return variable.upper().startswith((_PREFIX, "TOGETHER_API_KEY"))


@lru_cache(maxsize=8)
def _settings_of(environment: frozenset[tuple[str, str]]) -> Settings:
    for variable, meant in _misspelt(name for name, _ in environment):
        advice = f"Is {meant} meant?" if meant else "It changes nothing."
        logger.warning("%s is no setting of Paper Trail. %s", variable, advice)
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        variable = name if name.isupper() else f"{_PREFIX}{name.upper()}"
        raise CorpusError(
            f"The setting {variable} cannot be used: {first['msg'].removeprefix('Value error, ')}. "
            "Correct or unset it."
        ) from None

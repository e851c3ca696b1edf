"""The doctor: check everything that indexing and asking need, and say how to repair it."""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from huggingface_hub import constants, try_to_load_from_cache

from assistant.models.menu import PROVIDERS
from corpus.encoders.base import BUNDLED_SHA256, SentenceEncoder, bundled_path
from corpus.errors import CorpusError
from corpus.kept.room import Room
from corpus.places.disk import MB, free_bytes, nearest_existing
from corpus.places.place import ConflictError, Place
from corpus.sandbox.confinement import offered_confinement, unconfined
from corpus.settings import BUNDLED_ENCODER, Settings
from corpus.store.corpus import Corpus
from corpus.store.manifest import check_encoder, find_manifest, mixed_sizes, read_manifest
from corpus.wording import counted, joined
from indexer.parsers.grobid.answers import GrobidError
from indexer.parsers.ocr.engines import INSTALL, engine_name

State = Literal["ok", "warning", "problem", "off"]
"""`off` is an optional part that is not set up; only `problem` keeps something from working."""

Fact = str | int | bool | None

FREE_SPACE_WANTED = 2 * 1024**3
# Share of the visitors' storage limit at which the operator is warned.
_NEARLY = 0.9
START_GROBID = "docker compose up --detach, then PAPER_TRAIL_GROBID_URL=http://127.0.0.1:8070"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `text` is for people, `facts` for programs."""

    name: str
    state: State
    text: str
    facts: Mapping[str, Fact] = field(default_factory=dict)


def examine(settings: Settings) -> tuple[Finding, ...]:
    """Run all checks; over the network GROBID is called, and a bucket if one is set.

    The rights of a bucket are tested with a file that is then deleted; nothing else is written.
    """
    return (
        *_places(settings),
        _disk_space(settings.home),
        _visitors(settings),
        _corpus(settings),
        _encoder(settings.encoder),
        _grobid(settings),
        _scans(settings),
        _sandbox(settings),
        _models(settings),
    )


def _sandbox(settings: Settings) -> Finding:
    offered = offered_confinement()
    facts: dict[str, Fact] = {"files": offered.files, "calls": offered.calls, "setting": settings.sandbox}
    if offered:
        text = "Processes that read files of visitors and papers can open no others and call nobody."
        return Finding("sandbox", "ok", text, facts)
    is_required = settings.sandbox == "required"
    advice = (
        "Visitors' files are refused (PAPER_TRAIL_SANDBOX=required)."
        if is_required
        else "Set PAPER_TRAIL_SANDBOX=required to have visitors' files refused here."
    )
    text = f"{unconfined(offered)} {advice}"
    return Finding("sandbox", "problem" if is_required else "warning", text, facts)


def _places(settings: Settings) -> tuple[Finding, ...]:
    if not settings.address:
        return (_folder(settings.home),)
    return (
        _storage(settings),
        _folder(settings.home, "PAPER_TRAIL_LOCAL"),
        _folder(settings.cache, "PAPER_TRAIL_CACHE", "cache"),
    )


def _storage(settings: Settings) -> Finding:
    facts: dict[str, Fact] = {"address": settings.address}
    try:
        problem = _rights_missing(settings.place / f"doctor-{secrets.token_hex(8)}")
    except CorpusError as error:
        problem = str(error)
    if problem:
        return Finding("storage", "problem", problem, facts)
    text = f"At {settings.address} files can be listed, written on condition, read and deleted."
    return Finding("storage", "ok", text, facts)


def _rights_missing(probe: Place) -> str:
    """Return the operation that fails on a file made for the test, "" for none."""
    step = "listed"
    try:
        probe.is_folder()
        step = "written"
        probe.write_if(b"first", "")
        step = "read"
        mark = probe.read_marked()[1]
        step = "written on condition"
        probe.write_if(b"second", mark)
        is_kept = _is_kept(probe, mark)
        step = "deleted"
        probe.delete()
    except (ConflictError, OSError) as error:
        with suppress(OSError):
            probe.delete()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return (
            f"At {probe} nothing can be {step}: {reason}. Check the address in PAPER_TRAIL_HOME, the keys "
            "and the endpoint in the environment, and the rights (docs/operations/storage.md)."
        )
    return (
        ""
        if is_kept
        else (
            f"At {probe} a file is overwritten though it was to be written only if unchanged: two builds "
            "at once could damage the corpus. Use a storage that knows conditional writes."
        )
    )


def _is_kept(probe: Place, outdated: str) -> bool:
    """Return True if conditional writes with an outdated mark, or for an absent file, are refused."""
    for mark in (outdated, ""):
        try:
            probe.write_if(b"third", mark)
        except ConflictError:
            continue
        return False
    return True


def _folder(home: Path, setting: str = "PAPER_TRAIL_HOME", name: str = "folder") -> Finding:
    existing = nearest_existing(home)
    writable = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    facts: dict[str, Fact] = {"path": str(home), "exists": home.is_dir(), "writable": writable}
    if not existing.is_dir():
        text = f"{existing} is not a folder. Set {setting} to a folder that can be written."
        return Finding(name, "problem", text, facts)
    if not writable:
        advice = f"Change its permissions, or set {setting} to one that can."
        text = f"The folder {existing} cannot be written. {advice}"
        return Finding(name, "problem", text, facts)
    if existing != home:
        return Finding(name, "ok", f"The folder {home} is made by the first build.", facts)
    return Finding(name, "ok", f"The folder {home} can be written.", facts)


def _disk_space(home: Path) -> Finding:
    try:
        free = free_bytes(home)
    except OSError as error:
        return Finding("disk", "problem", f"The disk of {home} cannot be examined: {error.strerror}.")
    facts = {"free_bytes": free, "wanted_bytes": FREE_SPACE_WANTED}
    text = f"{free / 1024**3:.1f} GiB are free on the disk of {home}"
    if free < FREE_SPACE_WANTED:
        wanted = FREE_SPACE_WANTED // 1024**3
        advice = "Make room, or move PAPER_TRAIL_HOME to a larger disk."
        return Finding("disk", "warning", f"Only {text}; a build may need {wanted} GiB. {advice}", facts)
    return Finding("disk", "ok", f"{text}.", facts)


def _visitors(settings: Settings) -> Finding:
    """Check what visitors store on this machine against the limits."""
    try:
        free, files = free_bytes(settings.home), Room.of(settings).size()
        rows = settings.conversations_path.stat().st_size if settings.conversations_path.exists() else 0
    except OSError as error:
        return Finding("visitors", "problem", f"What visitors keep cannot be examined: {error.strerror}.")
    floor, most_files = settings.free_disk_megabytes, settings.files_megabytes_of_all
    most_rows = settings.stored_megabytes_of_all
    facts: dict[str, Fact] = {"files_bytes": files, "rows_bytes": rows, "free_bytes": free}
    facts |= {
        "most_files_bytes": most_files * MB,
        "most_rows_bytes": most_rows * MB,
        "floor_bytes": floor * MB,
    }
    if free < floor * MB:
        text = (
            f"Nothing of visitors is stored: less than {floor:,} MB are free. Make room, or change "
            "PAPER_TRAIL_FREE_DISK_MEGABYTES."
        )
        return Finding("visitors", "problem", text, facts)
    text = f"Visitors' files take {files / MB:,.0f} MB, and what else is stored of them {rows / MB:,.0f} MB."
    reached = [
        f"PAPER_TRAIL_{name}_MEGABYTES_OF_ALL"
        for name, stored, most in (("FILES", files, most_files), ("STORED", rows, most_rows))
        if 0 < _NEARLY * most * MB < stored
    ]
    if reached:
        advice = f"Delete what is not needed, or raise {' and '.join(reached)}: beyond it nothing is stored."
        return Finding("visitors", "warning", f"{text} {advice}", facts)
    return Finding("visitors", "ok", text, facts)


def _corpus(settings: Settings) -> Finding:
    facts: dict[str, Fact] = {"path": settings.address or str(settings.home), "present": True}
    try:
        path = settings.corpus_path
        facts |= {"path": str(path), "present": find_manifest(path)[0] is not None}
        manifest = read_manifest(path)
        facts |= {"encoder": manifest.encoder, "runtime": manifest.runtime, "schema": manifest.schema}
        # Compare names first: loading an encoder takes seconds.
        chosen = settings.encoder
        other_weights = chosen == BUNDLED_ENCODER and manifest.encoder_sha256 != BUNDLED_SHA256
        if manifest.encoder != chosen or other_weights:
            check_encoder(manifest, SentenceEncoder(chosen))
        corpus = Corpus(path, manifest)
        summaries, sizes = corpus.collections(), corpus.passage_sizes()
    except CorpusError as error:
        return Finding("corpus", "problem" if facts["present"] else "warning", str(error), facts)
    papers = sum(summary.papers for summary in summaries)
    facts |= {"collections": len(summaries), "papers": papers}
    text = f"The corpus holds {counted(papers, 'paper')}; its encoder is {manifest.encoder}."
    if mixed := mixed_sizes(sizes):
        return Finding("corpus", "warning", f"{text} {mixed}", facts)
    return Finding("corpus", "ok", text, facts)


def _encoder(name: str) -> Finding:
    facts: dict[str, Fact] = {"encoder": name, "bundled": name == BUNDLED_ENCODER}
    if name == BUNDLED_ENCODER:
        try:
            bundled_path()
        except CorpusError as error:
            return Finding("encoder", "problem", str(error), facts)
        text = f"The bundled encoder {BUNDLED_ENCODER} is installed and its weights are the published ones."
        return Finding("encoder", "ok", text, facts)
    if Path(name).is_dir():
        if any((Path(name) / file).is_file() for file in ("modules.json", "config.json")):
            return Finding("encoder", "ok", f"The encoder is read from the folder {name}.", facts)
        text = f"The folder {name} holds no encoder. Correct or unset PAPER_TRAIL_ENCODER."
        return Finding("encoder", "problem", text, facts)
    return _encoder_of_hub(name, facts)


def _encoder_of_hub(name: str, facts: Mapping[str, Fact]) -> Finding:
    names = [name] if "/" in name else [name, f"sentence-transformers/{name}"]
    try:
        cached = any(
            isinstance(try_to_load_from_cache(full, file), str)
            for full in names
            for file in ("modules.json", "config.json")
        )
    except ValueError:
        text = f"{name!r} is neither a folder nor a model's name. Correct or unset PAPER_TRAIL_ENCODER."
        return Finding("encoder", "problem", text, facts)
    facts = {**facts, "cached": cached, "offline": constants.HF_HUB_OFFLINE}
    if cached:
        return Finding("encoder", "ok", f"The encoder {name} is in the model cache of this machine.", facts)
    missing = f"The encoder {name} is not on this machine"
    if constants.HF_HUB_OFFLINE:
        text = (
            f"{missing}, and HF_HUB_OFFLINE forbids to download it. Unset one of HF_HUB_OFFLINE and "
            "PAPER_TRAIL_ENCODER."
        )
        return Finding("encoder", "problem", text, facts)
    text = (
        f"{missing}; it is downloaded from the model hub when it is first used, if there is one of that name."
    )
    return Finding("encoder", "warning", text, facts)


def _grobid(settings: Settings) -> Finding:
    if not settings.grobid_url:
        text = f"No GROBID server is set; PDFs are read without one. To use one: {START_GROBID}"
        return Finding("grobid", "off", text, {"set": False})
    from indexer.parsers.grobid.client import open_grobid  # noqa: PLC0415 - takes half a second; only for a server

    try:
        parser = open_grobid(settings)
    except GrobidError as error:
        return Finding("grobid", "problem", f"{error}. Correct or unset it.", {"set": True})
    status = parser.server.known_status()
    names = ("url", "reachable", "ready", "version", "revision", "pool")
    facts: dict[str, Fact] = {"set": True, **{name: getattr(status, name) for name in names}}
    if not status.reachable:
        return Finding("grobid", "problem", f"{status.problem}. To start one: {START_GROBID}", facts)
    if not status.ready:
        text = f"The GROBID server at {status.url} cannot be used: {status.problem}."
        return Finding("grobid", "problem", text, facts)
    concurrency = parser.server.concurrency
    version = f"GROBID {status.version or 'of an unknown version'}"
    text = f"{version} at {status.url} is ready; it is given {concurrency} papers at once."
    return Finding("grobid", "ok", text, {**facts, "concurrency": concurrency})


def _scans(settings: Settings) -> Finding:
    engine = engine_name(settings.ocr)
    facts: dict[str, Fact] = {"setting": settings.ocr, "engine": engine}
    if engine:
        most = f"up to {counted(settings.ocr_pages, 'page')} of one file"
        return Finding("scans", "ok", f"Scans are read by {engine}, {most}.", facts)
    if settings.ocr == "off":
        return Finding("scans", "off", "Scans are not read: PAPER_TRAIL_OCR is off.", facts)
    if settings.ocr == "auto":
        text = f"Scans are not read: nothing is installed that does. {INSTALL}."
        return Finding("scans", "off", text, facts)
    text = f"PAPER_TRAIL_OCR names {settings.ocr}, which is not installed. Install it, or unset the setting."
    return Finding("scans", "problem", text, facts)


def _models(settings: Settings) -> Finding:
    is_set = {
        provider.setting: provider.is_set(settings)
        for provider in PROVIDERS.values()
        if not provider.runs_here
    }
    facts = {name.removeprefix("PAPER_TRAIL_").lower(): value for name, value in is_set.items()}
    if settings.models_file and not os.access(settings.models_file, os.R_OK):
        text = f"The file {settings.models_file} cannot be read. Correct or unset PAPER_TRAIL_MODELS_FILE."
        return Finding("models", "problem", text, facts)
    if not any(is_set.values()):
        text = (
            "No model is set; answers are selected from the papers' own sentences. To let a model write, set "
            f"{joined(is_set, 'or')}."
        )
        return Finding("models", "off", text, facts)
    names = joined(name for name, value in is_set.items() if value)
    return Finding("models", "ok", f"Models can be chosen by {names}; they were not asked.", facts)

"""Licences of installed packages: permissive, or named with a reason."""

import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

import pytest

from deployment.requirements import requirements

# In the words of licence expressions, classifiers and free text, of which packages have one or another.
PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|Python Software Foundation|PSF-2\.0|MPL|Mozilla Public|0BSD|Zlib|CC0|BSL-1\.0|CNRI",
    re.I,
)
ALSO_OTHERS = re.compile(r"GPL|Affero|Commons Clause|SSPL|Business Source|NonCommercial", re.I)
# Each with the reason that it is here all the same.
EXCEPTIONS = {
    "text-unidecode": "by choice under the Artistic License; python-slugify brings it",
    "unidecode": "acl-anthology asks for it, for ids of persons; nothing of ours imports it",
    "marisa-trie": "the part under the LGPL is under BSD as well; language-data brings it",
}
# Packages without a licence in their metadata, with the licence in their files.
SILENT = {
    "detect-agent": "Apache-2.0",
    "grobid-client-python": "Apache-2.0",
    "streamlit-pdf-viewer": "Apache-2.0",
}


def listed(root: Path) -> list[str]:
    """Return the names of all that is pinned for the product, by itself or by others."""
    optional = (*requirements("ocr"), *requirements("postgres"), *requirements("s3"))
    lines = "\n".join(((root / "requirements.lock").read_text("utf-8"), *optional))
    return sorted({"torch", *re.findall(r"(?m)^([a-z0-9][a-z0-9._-]*)==", lines)})


def licence_of(found: PackageMetadata) -> str:
    """Return the licence that a package declares, "" for none."""
    if "License-Expression" in found:
        return found["License-Expression"]
    classifiers = found.get_all("Classifier") or []
    told = "; ".join(
        classifier.rpartition("::")[2].strip()
        for classifier in classifiers
        if classifier.startswith("License ::")
    )
    written = found["License"] if "License" in found else ""  # noqa: SIM401 - the type of it has no `get`
    return told or written.partition("\n")[0]


def test_licences_are_permissive_or_named_with_a_reason(root: Path) -> None:
    told: dict[str, str] = {}
    for name in listed(root):
        try:
            told[name] = licence_of(metadata(name)) or SILENT.get(name, "")
        except PackageNotFoundError:
            continue  # of another system
    assert len(told) > 100
    doubtful = {
        name: licence
        for name, licence in told.items()
        if not PERMISSIVE.search(licence) or ALSO_OTHERS.search(licence)
    }
    assert doubtful.keys() - EXCEPTIONS.keys() == set(), doubtful
    assert not any(re.search(r"AGPL|Affero", licence) for licence in told.values())


@pytest.mark.parametrize("licence", ["GNU Affero General Public License v3", "AGPL-3.0-only", ""])
def test_a_licence_that_asks_for_more_is_found(licence: str) -> None:
    assert not PERMISSIVE.search(licence) or ALSO_OTHERS.search(licence)

"""The text of an exported file: a Word document is a zip of XML."""

import io
import zipfile


def exported_text(written: str | bytes) -> str:
    if isinstance(written, str):
        return written
    if not written.startswith(b"PK"):
        return written.decode()
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        return "\n".join(
            archive.read(name).decode() for name in archive.namelist() if name.endswith((".xml", ".rels"))
        )

"""compose.yaml, as far as it can be checked without a container: its nginx is that of `make serve`."""

import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from corpus.settings import Settings
from deployment.nginx import Frontend, configuration
from deployment.site import free_ports, shared_environment, upload_megabytes
from tests.served_site import NGINX

# Of nginx in its container, which may write there alone.
FOLDER, PORT = "/tmp", 8501


@pytest.fixture(scope="module")
def services(root: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((root / "compose.yaml").read_text(encoding="utf-8"))["services"])


def processes(services: dict[str, Any]) -> dict[str, Any]:
    return {name: service for name, service in services.items() if re.fullmatch(r"p\d", name)}


def address(service: dict[str, Any]) -> str:
    return str(service["networks"]["site"]["ipv4_address"])


def test_its_nginx_is_configured_by_the_same_code(root: Path, services: dict[str, Any]) -> None:
    file = root / "deployment" / "compose-nginx.conf"
    places = [f"{address(process)}:{PORT}" for process in processes(services).values()]
    expected = configuration(Frontend(places, str(PORT), FOLDER, upload_megabytes()))
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(expected, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == expected, "UPDATE_GOLDEN=1 pytest tests/deployment writes it"
    assert f"./{file.relative_to(root)}:/etc/nginx/nginx.conf:ro" in services["nginx"]["volumes"]


@pytest.mark.skipif(not NGINX, reason="nginx is not installed")
def test_nginx_takes_the_configuration(root: Path) -> None:
    text = (root / "deployment" / "compose-nginx.conf").read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        file = Path(folder, "nginx.conf")
        here = text.replace(f"{FOLDER}/", f"{folder}/").replace(
            f"listen {PORT}", f"listen {free_ports(1)[0]}"
        )
        file.write_text(here, encoding="utf-8")
        command = [str(NGINX), "-t", "-q", "-p", folder, "-c", str(file), "-e", "stderr"]
        assert subprocess.run(command, capture_output=True, check=False).stderr == b""


def test_processes_are_told_what_those_of_make_serve_are_and_reached_through_nginx(
    services: dict[str, Any],
) -> None:
    told = [process["environment"] for process in processes(services).values()]
    assert len(told) == 2
    for environment in told:
        settings = {name: str(value) for name, value in environment.items()}
        for name, value in shared_environment(Settings(), len(told)).items():
            if name.startswith("PAPER_TRAIL_MODEL_CALLS"):
                assert float(settings[name]) == float(value), name
        assert settings["PAPER_TRAIL_TRUSTED_PROXIES"] == address(services["nginx"])
        assert address(services["postgres"]) in settings["PAPER_TRAIL_CONVERSATIONS"]
        secret = settings["STREAMLIT_SERVER_COOKIE_SECRET"]
        assert "PAPER_TRAIL_COOKIE_SECRET" in secret
        assert "PASSWORD" not in secret, "who knows the database's password could sign in as anybody"
        # They are counted in the database, for all processes together.
        assert not any(name.startswith("PAPER_TRAIL_LIMIT") for name in settings)
    Settings.model_validate({"log": told[0]["PAPER_TRAIL_LOG"]})
    for process in processes(services).values():
        assert int(process["stop_grace_period"].removesuffix("s")) > Settings().stop_seconds + 10
    open_to = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert open_to == {"grobid": ["127.0.0.1:8070:8070"], "nginx": [f"127.0.0.1:{PORT}:{PORT}"]}


def test_images_are_pinned_and_have_what_the_app_is_made_of(root: Path, services: dict[str, Any]) -> None:
    built = [service for service in services.values() if "build" in service]
    bases = re.findall(r"(?m)^FROM (\S+)", (root / "Dockerfile").read_text(encoding="utf-8"))
    taken = [service["image"] for service in services.values() if service not in built]
    assert len(bases) == 1
    assert all(re.search(r":\d+\.\d+(\.\d+)?", image) for image in (*bases, *taken)), (bases, taken)
    ignored = (root / ".dockerignore").read_text(encoding="utf-8").split()
    needed = ("assistant", "corpus", "explorer", "indexer", "streamlit_app.py", "requirements.lock")
    assert not set(needed) & set(ignored)
    assert ".streamlit/secrets.toml" in ignored

"""The doctor says what is wrong with a bucket: its address, keys, rights, writes without conditions."""

import pytest

from corpus.places import bucket
from corpus.settings import Settings
from indexer.maintenance.doctor import Finding, examine
from tests.s3_server import FaultyS3, checked_keys, documented_policy, new_user, without


def storage_of(home: str) -> Finding:
    return next(check for check in examine(Settings(home=home)) if check.name == "storage")


def test_a_bucket_that_can_be_used(s3: FaultyS3) -> None:
    findings = {check.name: check for check in examine(Settings(home=s3.home))}
    assert findings["storage"].state == "ok"
    assert {"folder", "cache", "storage"} <= findings.keys()
    assert findings["corpus"].state == "warning"
    assert Settings(home=s3.home).place.files_below() == []


def test_a_bucket_that_is_not_there(s3: FaultyS3) -> None:
    found = storage_of(f"s3://{s3.bucket}-no/papers")
    assert found.state == "problem"
    assert "nothing can be listed: there is no such bucket" in found.text


def test_an_address_without_its_package_or_sense(s3: FaultyS3) -> None:
    found = storage_of("ftp://host/papers")
    assert (found.state, "is not the address of a corpus" in found.text) == ("problem", True)


def test_a_server_that_cannot_be_reached(s3: FaultyS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket, "RETRIES", 0)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert "cannot be reached" in storage_of(s3.home).text


def test_keys_are_told_from_rights(s3: FaultyS3, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = documented_policy(s3.bucket)
    lacking = {
        "s3:ListBucket": "listed",
        "s3:PutObject": "written",
        "s3:GetObject": "read",
        "s3:DeleteObject": "deleted",
    }
    for action, step in {"": "", **lacking}.items():
        for name, value in new_user(s3.server, without(policy, action)).items():
            monkeypatch.setenv(name, value)
        bucket._store.cache_clear()
        with checked_keys(s3.server):
            found = storage_of(s3.home)
        assert (found.state, found.text.count(f"nothing can be {step}: the access key may not")) == (
            ("problem", 1) if step else ("ok", 0)
        ), found
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN")
    bucket._store.cache_clear()
    with checked_keys(s3.server):
        found = storage_of(s3.home)
    assert "the storage does not know the access key" in found.text
    assert "secret" not in found.text


def test_a_storage_that_heeds_no_conditions(s3: FaultyS3) -> None:
    s3.is_unconditional = True
    found = storage_of(s3.home)
    assert (found.state, "conditional writes" in found.text) == ("problem", True)

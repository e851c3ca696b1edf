"""Web addresses that may be fetched: public hosts by http and https, whatever is typed."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import ParseError
from indexer.web.addresses import is_public, located, web_address


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("https://example.org/a.pdf", "https://example.org/a.pdf"),
        (" example.org/paper ", "https://example.org/paper"),
        ("example.org:8080/paper#section", "https://example.org:8080/paper"),
        ("http://example.org?a=b#c", "http://example.org?a=b"),
        ("https://arxiv.org/abs/2203.10244v2", "https://arxiv.org/pdf/2203.10244v2"),
        ("arxiv.org/abs/cs/0112017", "https://arxiv.org/pdf/cs/0112017"),
        ("https://arxiv.org/list/cs.CL/recent", "https://arxiv.org/list/cs.CL/recent"),
        ("https://aclanthology.org/2022.acl-long.1/", "https://aclanthology.org/2022.acl-long.1.pdf"),
        ("https://aclanthology.org/P19-1001", "https://aclanthology.org/P19-1001.pdf"),
        ("https://aclanthology.org/events/acl-2022/", "https://aclanthology.org/events/acl-2022/"),
    ],
)
def test_what_is_typed_becomes_an_address(typed: str, asked: str) -> None:
    assert str(web_address(typed)) == asked


@pytest.mark.parametrize(
    "typed",
    [
        "", "   ", "two words", "file:///etc/passwd", "ftp://example.org/a", "javascript:alert(1)", "http://",
        "https://user:secret@example.org/", "http://example.org:22/", "http://[::1", "data:text/html,x",
        "http://example.org/\nHost: other", "https://" + "a" * 3000, "gopher://example.org", "http://:80/",
    ],
)  # fmt: skip
def test_what_is_no_page_of_the_web_is_refused(typed: str) -> None:
    with pytest.raises(ParseError):
        web_address(typed)


@given(st.text(max_size=60))
def test_whatever_is_typed_is_an_address_of_the_web_or_refused(typed: str) -> None:
    try:
        url = web_address(typed)
    except ParseError:
        return
    assert url.scheme in ("http", "https")
    assert url.host
    assert not url.userinfo


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "240.0.0.1", "192.0.2.1",
        "198.18.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:f5ff:fffe", "not an address", "",
    ],
)  # fmt: skip
def test_an_address_of_a_network_of_ones_own_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "151.101.1.1", "2606:4700::1111"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(network="10.0.0.0/8"))
def test_a_private_address_is_not_public_in_any_wrapping(address: ipaddress.IPv4Address) -> None:
    number = f"{int(address):08x}"
    halves = f"{number[:4]}:{number[4:]}"
    for wrapped in (str(address), f"::ffff:{address}", f"64:ff9b::{halves}", f"2002:{halves}::1"):
        assert not is_public(wrapped)


@pytest.mark.parametrize(
    "typed",
    [
        "http://localhost/", "http://127.0.0.1/", "http://[::1]/", "http://2130706433/", "http://0x7f.1/",
        "http://017700000001/", "http://169.254.169.254/latest/meta-data/", "http://[::ffff:127.0.0.1]/",
    ],
)  # fmt: skip
def test_a_host_of_this_network_is_not_located_however_it_is_written(typed: str) -> None:
    with pytest.raises(ParseError, match=r"public internet|no host"):
        located(web_address(typed))


def test_a_private_host_is_located_where_that_is_allowed() -> None:
    assert located(web_address("http://127.0.0.1:8080/"), allow_private=True).addresses == ("127.0.0.1",)

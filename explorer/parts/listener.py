"""The script that knows the page: it hears clicks on citations, measures the screen, shows what is meant."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import streamlit as st

NARROW_PIXELS = 640

# Only data leaves the page's script: an id that Python checks, and a truth value.
_SCRIPT = """
let shown = '';
let returned = '';
// Streamlit runs this anew for new data and forgets what it returned before: that would go on hearing.
const stops = new WeakMap();
// On the way to another page Streamlit writes that page's parameters to the address of the page that is left,
// and then the address itself: "back" would lead to a page with foreign parameters. What is written with
// nothing done in between is one entry of the history.
if (!window.paperTrailGoesBack) {
  window.paperTrailGoesBack = true;
  let written = '';
  const push = history.pushState;
  history.pushState = function (state, title, url) {
    if (written === location.href) history.replaceState(state, title, url);
    else push.call(this, state, title, url);
    written = location.href;
  };
  const forget = () => { written = ''; };
  for (const name of ['click', 'keydown', 'popstate']) addEventListener(name, forget, true);
}
export default function ({ setTriggerValue, setStateValue, data, parentElement }) {
  stops.get(parentElement)?.();
  const narrow = () => matchMedia(`(max-width: ${data.narrowPixels}px)`).matches;
  const hear = (event) => {
    const link = event.target.closest('a[href^="#cite-"]');
    if (!link) return;
    event.preventDefault();
    setTriggerValue('cite', { id: link.getAttribute('href').slice(6), narrow: narrow() });
  };
  const measure = () => { if (narrow() !== data.narrow) setStateValue('narrow', narrow()); };
  if (data.hears !== 'width') document.addEventListener('click', hear, true);
  if (data.hears === 'width') {
    addEventListener('resize', measure);
    measure();
  }
  // Streamlit leaves the address as it is where a link leads from a page to itself.
  const before = new URLSearchParams(location.search);
  const now = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(data.address)) {
    if (value) now.set(name, value); else now.delete(name);
  }
  if (now.toString() !== before.toString()) {
    const url = now.toString() ? `?${now}` : location.pathname;
    if (data.isNewEntry) history.pushState({}, '', url); else history.replaceState({}, '', url);
  }
  if (data.show && data.show !== shown) {
    shown = data.show;
    const reveal = (tries) => setTimeout(() => {
      const place = document.querySelector('.st-key-' + data.show);
      if (place) place.scrollIntoView({ block: data.block });
      else if (tries) reveal(tries - 1);
    }, 60);
    reveal(20);
  }
  const main = document.querySelector('[data-testid="stMain"]');
  const remember = () => {
    if (data.place) sessionStorage.setItem('paper-trail-place', JSON.stringify([data.place, main.scrollTop]));
  };
  if (data.place && data.place !== returned) {
    const [place, top] = JSON.parse(sessionStorage.getItem('paper-trail-place') || '[]');
    const isReload = !returned;
    returned = data.place;
    const goBack = (tries) => setTimeout(() => {
      if (main.scrollHeight - main.clientHeight >= top) main.scrollTop = top;
      else if (tries) goBack(tries - 1);
    }, 60);
    if (isReload && main && place === data.place && top > 0) goBack(50);
  }
  main?.addEventListener('scroll', remember, { passive: true });
  const stop = () => {
    document.removeEventListener('click', hear, true);
    removeEventListener('resize', measure);
    main?.removeEventListener('scroll', remember);
  };
  stops.set(parentElement, stop);
  return stop;
}
"""

_component = st.components.v2.component("paper_trail_listener", js=_SCRIPT)


@dataclass(frozen=True, slots=True)
class Heard:
    """What the page reported: the id of a citation that was clicked, and whether it is narrow."""

    cite: object
    narrow: bool


def listen(
    key: str,
    *,
    narrow: bool,
    show: str = "",
    to_top: bool = True,
    place: str = "",
    address: Mapping[str, str] = MappingProxyType({}),
    is_new_entry: bool = True,
    hears: Literal["clicks", "width"] = "width",
) -> Heard:
    """Mount the listener; `narrow` is what is believed so far, so that only a change is reported.

    `show` is the key of a container that is scrolled into view, once: to the top, or else only as far as it
    takes to see it. `place` names what is read: after a reload it is scrolled to where it was. `address`
    holds what the parameters of the page's address have to be, "" for not there; where that `is_new_entry`,
    "back" leads to the address before. Of two on a screen one `hears` clicks on citations and one the width:
    of what two report at once, one of them in a fragment, Streamlit loses what is not that fragment's.
    """
    result = _component(
        key=key,
        data={
            "narrowPixels": NARROW_PIXELS,
            "narrow": narrow,
            "show": show,
            "block": "start" if to_top else "nearest",
            "place": place,
            "address": dict(address),
            "isNewEntry": is_new_entry,
            "hears": hears,
        },
        on_cite_change=_nothing,
        on_narrow_change=_nothing,
    )
    clicked = result.get("cite")
    measured = result.get("narrow")
    if isinstance(clicked, dict):
        return Heard(clicked.get("id"), bool(clicked.get("narrow")))
    return Heard(None, bool(measured) if measured is not None else narrow)


def _nothing() -> None:
    """Make Streamlit report a value: it does so only for values with a callback."""

"""The one piece of script of ours: it hears clicks on citations and tells narrow screens from wide ones."""

from dataclasses import dataclass

import streamlit as st

NARROW_PIXELS = 640

# Only data leaves the page's script: an id that Python checks, and a truth value.
_SCRIPT = """
let shown = '';
export default function ({ setTriggerValue, setStateValue, data }) {
  const narrow = () => matchMedia(`(max-width: ${data.narrowPixels}px)`).matches;
  const hear = (event) => {
    const link = event.target.closest('a[href^="#cite-"]');
    if (!link) return;
    event.preventDefault();
    setTriggerValue('cite', { id: link.getAttribute('href').slice(6), narrow: narrow() });
  };
  const measure = () => { if (narrow() !== data.narrow) setStateValue('narrow', narrow()); };
  document.addEventListener('click', hear, true);
  addEventListener('resize', measure);
  measure();
  if (data.show && data.show !== shown) {
    shown = data.show;
    setTimeout(() => document.querySelector('.st-key-' + data.show)?.scrollIntoView({ block: 'start' }), 60);
  }
  return () => { document.removeEventListener('click', hear, true); removeEventListener('resize', measure); };
}
"""

_component = st.components.v2.component("paper_trail_listener", js=_SCRIPT)


@dataclass(frozen=True, slots=True)
class Heard:
    """What the page reported: the id of a citation that was clicked, if any, and whether it is narrow."""

    cite: object
    narrow: bool


def listen(key: str, *, narrow: bool, show: str = "") -> Heard:
    """Mount the listener; `narrow` is what is believed so far, so that only a change is reported.

    `show` is the key of a container that is scrolled into view, once.
    """
    result = _component(
        key=key,
        data={"narrowPixels": NARROW_PIXELS, "narrow": narrow, "show": show},
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

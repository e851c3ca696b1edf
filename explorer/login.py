"""Signing in by OpenID Connect, where the operator has set it up in secrets.toml; else nobody is asked."""

import streamlit as st

from explorer.parts.owner import owner_of_person
from explorer.parts.safe_text import escaped, shortened


def is_admitted() -> bool:
    """Tell whether this visitor may see the papers: all may where no sign-in is set up."""
    return _user().get("is_logged_in") in (None, True)


def signed_in_owner() -> str:
    """Return whose conversations a signed-in visitor's are, "" for one who is not signed in."""
    user = _user()
    return owner_of_person(user.get("iss"), user.get("sub")) if user.get("is_logged_in") is True else ""


def render_sign_in() -> None:
    """Draw the one thing that a visitor can do who has not signed in."""
    with st.container(key="reading_sign_in"):
        st.title("Sign in to read", anchor=False)
        st.markdown("Whoever runs this Paper Trail has asked that visitors sign in first.")
        st.button("Sign in", type="primary", key="sign_in", on_click=st.login)


def draw_signed_in() -> None:
    """Say who is signed in, with the way out; nothing where no sign-in is set up."""
    user = _user()
    if user.get("is_logged_in") is not True:
        return
    name = str(user.get("name") or user.get("email") or user.get("sub") or "somebody")
    with st.container(horizontal=True, vertical_alignment="center", key="signed_in"):
        st.markdown(f"Signed in as {escaped(shortened(name, 80))}.", width="content")
        st.button("Sign out", type="tertiary", key="sign_out", on_click=st.logout)


def _user() -> dict[str, object]:
    """Return what the identity provider says; without `is_logged_in` there is none."""
    return dict(st.user.to_dict())

"""What a page shows stands in its address: a link that is sent shows the same."""

from collections.abc import Iterable

import streamlit as st


def follow(page: str, names: Iterable[str]) -> dict[str, str]:
    """What the address asks of ``names`` where it has changed, or else what ``page`` showed last.

    Of a widget whose key is a name, and whose value the address now changes by a link or by the browser's way
    back, the state is forgotten: it is to start from the address.
    """
    query = st.query_params.to_dict()
    seen: dict[str, str] = st.session_state.get(_seen(page), {})
    wanted: dict[str, str] = dict(st.session_state.get(_shown(page), {}))
    for name in names:
        asked = query.get(name)
        # What is asked for still, though a visitor has chosen something else since, is no news.
        if asked is not None and asked != seen.get(name):
            wanted[name] = asked
            st.session_state.pop(name, None)
    st.session_state[_seen(page)] = query
    return wanted


def remember(page: str, shown: dict[str, str]) -> None:
    """Put what ``page`` shows into the address; what is empty stands for what a page opens with."""
    told = {name: value for name, value in shown.items() if value}
    st.session_state[_shown(page)] = told
    st.session_state[_seen(page)] = told
    if st.query_params.to_dict() != told:
        st.query_params.from_dict(told)


def _shown(page: str) -> str:
    return f"shown on {page}"


def _seen(page: str) -> str:
    return f"address of {page}"

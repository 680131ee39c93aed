"""The cards that say why two graphs differ: cause, evidence, and what to write, one a divergence."""

import streamlit as st

from explorer.model.alignment import Alignment
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence
from explorer.text.language import _
from explorer.web.widgets import plain
from explorer.words.causes import (
    MendText,
    attempts,
    heading,
    how_proven,
    mend_texts,
    what_explains,
    where_to_write,
)
from explorer.words.divergences import divergences

MOST_CARDS = 8
"""How many causes have a card; the list below the drawings has the others."""


def why_cards(alignment: Alignment) -> None:
    """A card for each divergence whose cause is known, the first one open; else what was tried."""
    shown = 0
    sentences = divergences(alignment)
    for place, (divergence, what) in enumerate(zip(alignment.divergences, sentences, strict=True)):
        found = alignment.cause(place)
        if found and shown < MOST_CARDS:
            _card(alignment, found, divergence, what, is_first=shown == 0)
            shown += 1
    tried = attempts(alignment)
    if tried and not shown:
        st.caption(plain(_("{text}.").format(text=tried)))


def _card(
    alignment: Alignment, found: Cause, divergence: Divergence, what: str, *, is_first: bool
) -> None:
    engines = alignment.left, alignment.right
    with st.expander(
        plain(heading(found, engines)), expanded=is_first, icon=":material/lightbulb:"
    ):
        st.markdown(plain(_("{text}.").format(text=what_explains(found, engines))))
        st.caption(plain(_("{text}.").format(text=how_proven(found))))
        if alignment.divergence is not divergence:
            st.caption(plain(what))  # the first one is in the summary above
        mends = mend_texts(found, engines)
        if mends:
            _mends(mends, divergence)


def _mends(mends: tuple[MendText, ...], divergence: Divergence) -> None:
    """What to write in either net, beside each other where there is room."""
    one, several = _("To mend it, write:"), _("To mend it, write in one of the nets:")
    st.markdown(one if len(mends) == 1 else several)
    sources = [end.source for end in divergence.ends]
    for column, mend in zip(st.columns(len(mends)), mends, strict=True):
        with column:
            st.caption(plain(where_to_write(mend, sources)))
            st.code(mend.code, language="python", wrap_lines=True)

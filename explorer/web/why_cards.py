"""The cards that say why two graphs differ: cause, evidence, and what to write, one a divergence."""

import streamlit as st

from explorer.model.alignment import Alignment
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
from explorer.words.explained import Explained, every
from explorer.words.mended import summary_line

MOST_CARDS = 8
"""How many divergences have a card; the list below the drawings has the others."""


def why_cards(alignment: Alignment) -> None:
    """A card for each divergence with a cause, the first one open, and for each seen as if mended.

    Where the first divergence has no cause, what was tried at it; at the end, what was computed again.
    """
    tried = attempts(alignment)
    if tried:
        st.caption(plain(_("{text}.").format(text=tried)))
    cards = [one for one in every(alignment) if one.cause or one.as_if_mended][:MOST_CARDS]
    for number, one in enumerate(cards):
        _card(alignment, one, is_open=number == 0)
    computed_again(alignment)


def computed_again(alignment: Alignment) -> None:
    """What one engine shows once it goes on with the other's values, in a line."""
    text = summary_line(alignment)
    if text:
        st.caption(plain(text))


def _card(alignment: Alignment, one: Explained, *, is_open: bool) -> None:
    engines = alignment.left, alignment.right
    title = _("As if those before were mended: a divergence without a known cause")
    icon = ":material/help:"
    if one.cause:
        title = heading(one.cause, engines, as_if_mended=one.as_if_mended)
        icon = ":material/lightbulb:"
    with st.expander(plain(title), expanded=is_open, icon=icon):
        if one.cause:
            st.markdown(plain(_("{text}.").format(text=what_explains(one.cause, engines))))
            st.caption(plain(_("{text}.").format(text=how_proven(one.cause))))
        if alignment.divergence is not one.divergence:
            st.caption(plain(one.sentence))  # the first one is in the summary above
        mends = mend_texts(one.cause, engines) if one.cause else ()
        if mends:
            _mends(mends, one.divergence)


def _mends(mends: tuple[MendText, ...], divergence: Divergence) -> None:
    """What to write in either net, beside each other where there is room."""
    one, several = _("To mend it, write:"), _("To mend it, write in one of the nets:")
    st.markdown(one if len(mends) == 1 else several)
    sources = [end.source for end in divergence.ends]
    for column, mend in zip(st.columns(len(mends)), mends, strict=True):
        with column:
            st.caption(plain(where_to_write(mend, sources)))
            st.code(mend.code, language="python", wrap_lines=True)

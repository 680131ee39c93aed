"""The cards that say why two graphs differ: cause, evidence, what to write, and what is known of it."""

import streamlit as st

from explorer.model.alignment import Alignment, Seen
from explorer.model.divergence import Divergence
from explorer.model.known import Reference
from explorer.text.language import _
from explorer.web.links import page_called
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
from explorer.words.divergences import every, summary_line
from explorer.words.known import reference_text, title

MOST_CARDS = 8
"""How many divergences have a card; the list below the drawings has the others."""


def why_cards(alignment: Alignment) -> None:
    """A card for each divergence of which a cause or anything else is known, or seen as if mended.

    The first one is open.

    Where the first divergence has no cause, what was tried at it; at the end, what was computed again.
    """
    tried = attempts(alignment)
    if tried:
        st.caption(plain(_("{text}.").format(text=tried)))
    cards = [(it, text) for it, text in every(alignment) if it.cause or it.known or it.run]
    for number, (one, text) in enumerate(cards[:MOST_CARDS]):
        _card(alignment, one, text, is_open=number == 0)
    computed_again(alignment)


def computed_again(alignment: Alignment) -> None:
    """What one engine shows once it goes on with the other's values, in a line."""
    text = summary_line(alignment)
    if text:
        st.caption(plain(text))


def _card(alignment: Alignment, one: Seen, sentence: str, *, is_open: bool) -> None:
    engines = alignment.left, alignment.right
    icon = ":material/lightbulb:" if one.cause or one.known else ":material/help:"
    with st.expander(plain(_title(one, engines)), expanded=is_open, icon=icon):
        if one.cause:
            st.markdown(plain(_("{text}.").format(text=what_explains(one.cause, engines))))
            st.caption(plain(_("{text}.").format(text=how_proven(one.cause))))
        if alignment.divergence is not one.divergence:
            st.caption(plain(sentence))  # the first one is in the summary above
        mends = mend_texts(one.cause, engines) if one.cause else ()
        if mends:
            _mends(mends, one.divergence)
        for reference in one.known:
            _known(reference)


def _title(one: Seen, engines: tuple[str, str]) -> str:
    """The cause in short, or else what is known, or that nothing is."""
    if one.cause:
        return heading(one.cause, engines, as_if_mended=one.run > 0)
    if one.known:
        return _("Known: {what}").format(what=title(one.known[0]))
    return _("As if those before were mended: a divergence without a known cause")


def _known(reference: Reference) -> None:
    """A claim as a link to its page, or a surprise with the page of the documentation that has it."""
    text = plain(_("Known: {what}").format(what=reference_text(reference)))
    page = page_called("claims")
    if reference.kind == "claim" and page:
        icon = ":material/fact_check:"
        st.page_link(page, label=text, icon=icon, query_params={"claim": reference.name})
    else:
        st.caption(text)


def _mends(mends: tuple[MendText, ...], divergence: Divergence) -> None:
    """What to write in either net, beside each other where there is room."""
    one, several = _("To mend it, write:"), _("To mend it, write in one of the nets:")
    st.markdown(one if len(mends) == 1 else several)
    sources = [end.source for end in divergence.ends]
    for column, mend in zip(st.columns(len(mends)), mends, strict=True):
        with column:
            st.caption(plain(where_to_write(mend, sources)))
            st.code(mend.code, language="python", wrap_lines=True)

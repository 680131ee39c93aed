"""Messages and widgets of several pages: bars, the choice of a device, the size of tables."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.blocks.markdown import escape
from explorer.model.errors import ExplorerError, WorkerFaultError
from explorer.model.findings import ReportFinding
from explorer.scenario.devices import FORMS
from explorer.text.choices import SHOWN, nearest
from explorer.text.clean import clean
from explorer.text.failures import loss_text
from explorer.text.language import _, named
from explorer.web.shared_runs import StoppedError
from explorer.words.findings import sentence as finding_sentence
from explorer.words.scenarios import said

# Foreign text

NOTHING = ":gray[]"
"""An empty piece: nothing of it is seen or copied, and what it stands in is no icon, face or link."""

MEANT = re.compile(
    r":(?=[\w+/-])"  # icons, faces, colours, addresses
    r"|(?<=[wW]{3})(?=\.)|(?=@)"  # addresses without a colon
    r"|(?<=\\-)(?=\\[->])|(?<=\\<)(?=\\-)|(?<=\\[<>~])(?==)"  # arrows, dashes, ≥ and ≤
)
"""Where Streamlit would see something other than text, once it is escaped."""

NUMBER = re.compile(r"^(\d+)([.)])")
"""What would begin a list with numbers."""

LONGEST = 3000
"""The number of characters after which a text is cut: a page must stay one that can be read."""


def plain(text: str) -> str:
    """A foreign text as Markdown that shows it, on one line."""
    seen = clean(text, keep="\n").strip()
    if len(seen) > LONGEST:
        seen = f"{seen[:LONGEST]} …"
    # Icons and faces are made inside code as well, where nothing can be put between.
    if re.search(r":[\w+/-]+:", seen):
        seen = seen.replace("`", "'")
    escaped = NUMBER.sub(r"\1\\\2", escape(seen))
    return _outside_code(escaped)


def _outside_code(escaped: str) -> str:
    """The empty piece where it is needed, in what is no code."""
    pieces = re.split(r"((?<!\\)`[^`]*`)", escaped)
    for place in range(0, len(pieces), 2):
        pieces[place] = MEANT.sub(_broken, pieces[place])
    return "".join(pieces)


def _broken(match: "re.Match[str]") -> str:
    # The colon itself must not begin the empty piece's name anew.
    return f"\\:{NOTHING}" if match.group() else NOTHING


def without_pictures(markdown: str) -> str:
    """Markdown of an author, in which pictures are text: they would be loaded from other hosts."""
    return markdown.replace("![", "!\\[")


# Unknown names in an address


def refusal(fact: str, given: str, allowed: Sequence[str]) -> str:
    """The fact, the nearest allowed name if one is near, and what is allowed."""
    near = nearest(given, allowed)
    shown = list(allowed)
    text = _("{fact}; allowed: {names}")
    if near:
        text = _("{fact}; did you mean {nearest}? allowed: {names}")
    rest = ""
    if len(allowed) > SHOWN:
        others = [name for name in allowed if name not in near]
        shown = [*near, *others][:SHOWN]
        rest = _(", … ({n} in all)").format(n=len(allowed))
    first = "".join(map(repr, near[:1]))
    return text.format(fact=fact, nearest=first, names=named(shown) + rest)


# Messages


def show_error(message: str) -> None:
    """One error message; what a scenario or a framework put into it shows as it is."""
    st.error(plain(message))


@contextmanager
def errors_shown() -> Iterator[None]:
    """What is raised on purpose inside the context becomes one message on the page."""
    try:
        yield
    except StoppedError:
        pass  # the page says so already, with a way to go on
    except ExplorerError as error:
        show_error(str(error))
    except WorkerFaultError as error:
        show_error(loss_text(error.loss))


def show_finding(finding: ReportFinding) -> None:
    """What was found out about the nets themselves; an alarm or not."""
    if finding.is_remark:
        st.info(plain(finding_sentence(finding)))
    elif finding.expected:
        st.info(plain(f"{finding_sentence(finding)} ({said(finding.reason)})"))
    else:
        st.warning(plain(finding_sentence(finding)))


BAR_PREFIX = "bar-"

BAR_STYLE = f"""<style>
@media (max-width: 640px) {{
  [class*="st-key-{BAR_PREFIX}"] > div {{ flex: 1 1 calc(50% - 1rem) !important; width: auto !important;
    min-width: 7rem !important; }}
  [class*="st-key-{BAR_PREFIX}"] > div > div {{ width: 100% !important; }}
}}
</style>"""
"""On a phone the widgets are in two columns; widths of their own would leave ragged rows."""


def new_bar(name: str, width: Literal["stretch", "content"] = "stretch") -> DeltaGenerator:
    """A new bar, under a name that no other bar of the page has."""
    st.html(BAR_STYLE)
    return st.container(horizontal=True, key=f"{BAR_PREFIX}{name}", width=width)


def optional_box(
    bar: DeltaGenerator,
    label: str,
    name: str,
    options: Iterable[str],
    wanted: Mapping[str, str],
    placeholder: str,
    width: int,
    called: Callable[[str], str] = _,
) -> str:
    """One option or none, from what the address has under ``name``; ``called`` says its name."""
    names = list(options)
    index = None
    if wanted.get(name) in names:
        index = names.index(wanted[name])
    chosen = bar.selectbox(
        label,
        names,
        index=index,
        key=name,
        placeholder=placeholder,
        width=width,
        format_func=called,
    )
    return chosen or ""


DEVICES = ("cpu", "auto", "cuda", "npu", "mps")
"""Offered for choice; another form, such as "cuda:1", can be typed."""

FIRST_DEVICE = DEVICES[0]


def device_box(first: str) -> str:
    """The device that is chosen; ``first`` until another one is."""
    devices = list(dict.fromkeys((*DEVICES, first)))
    chosen = st.selectbox(
        _("Device"),
        devices,
        index=devices.index(first),
        key="device",
        accept_new_options=True,
        help=", ".join(FORMS),
    )
    return chosen or FIRST_DEVICE


def has_words(text: str, words: str) -> bool:
    """Whether a text has every word that was searched for."""
    seen = text.casefold()
    return all(word in seen for word in words.casefold().split())


def selected_row(selected: Any, rows: int, first: int) -> int:
    """The row that is selected in a table of so many ``rows``; ``first`` until another one is."""
    places: list[int] = selected["selection"]["rows"]
    if places and places[0] < rows:
        return places[0]
    return first


ROW_HEIGHT, HEAD_HEIGHT = 35, 38
"""Pixels of a row of a table, and of its head."""


def table_height(rows: int, most: int) -> int:
    """The pixels in which a table shows all its rows, or ``most`` of them where there are more."""
    return HEAD_HEIGHT + ROW_HEIGHT * min(rows, most)

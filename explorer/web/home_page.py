"""The first page: what this is, and every scenario, study and the board one click away."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape as html_escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from explorer.model.claim import CLAIM_VERDICTS, Board, ClaimVerdict
from explorer.model.engines import FRAMEWORK_LABELS, engine_named
from explorer.model.message import Text
from explorer.model.study import StudyRecord
from explorer.report.claims.wording import verdict_name
from explorer.report.recorded.results import recorded_board, recorded_study
from explorer.report.scenario.card import INTRODUCTION, ScenarioCard
from explorer.shipped import scenarios_folder
from explorer.store.store import Store
from explorer.text.clean import clean
from explorer.text.language import _, code, named
from explorer.topics import STUDIES, study_topic
from explorer.topics import claims as every_claim
from explorer.topics.boards import stored_board
from explorer.topics.studies import stored_study, target
from explorer.web.cards import (
    AboutScenario,
    Badge,
    Card,
    card_grid,
    draw_missing,
    image_source,
    in_theme,
    introduction,
    scenario_card,
)
from explorer.web.cards import picture as image_of
from explorer.web.case_detail import STYLE_NAMES, STYLES
from explorer.web.claims_page import COLOURS, count_text
from explorer.web.links import follow, remember
from explorer.web.offered_scenarios import offered
from explorer.web.progress import page_recorded_with
from explorer.web.widgets import has_words, plain
from explorer.words.messages import text

LONGEST_FINDING = 180

PLACE = "home"

SHADES = {
    "green": "#2f7a3f",
    "blue": "#2f66b8",
    "violet": "#7a4bbb",
    "red": "#b93a32",
    "orange": "#a65a0a",
    "gray": "#656e78",
}
"""Streamlit's names of colours as colours on which white is read, beside light and dark paper."""

STYLE = """<style>
.two-by-two { border-collapse: collapse; width: 100%; table-layout: fixed; overflow-wrap: anywhere; }
.two-by-two code { white-space: normal; }
.two-by-two th, .two-by-two td { text-align: left; vertical-align: top; padding: .5rem .7rem;
  border: 1px solid rgba(128, 136, 146, .4); }
.two-by-two th { font-weight: 600; }
.two-by-two small { opacity: .75; font-weight: 400; }
[data-testid="stPageLink-NavLink"] { padding-left: 0; }
.introduction img { width: 100%; max-height: 30rem; object-fit: contain; border-radius: .5rem; }
@media (max-width: 640px) {
  .two-by-two { font-size: .8rem; }
  .two-by-two th, .two-by-two td { padding: .3rem .35rem; }
  .two-by-two th:first-child, .two-by-two td:first-child { width: 5.6rem; }
  .two-by-two code { font-size: .72rem; padding: 0; }
  .introduction { overflow-x: auto; }
  .introduction img { width: auto; max-width: none; height: 17rem; }
}
.counts { display: flex; width: 100%; border-radius: .4rem; overflow: hidden; gap: 2px; }
.counts span { color: #fff; font-weight: 600; font-size: .85rem; text-align: center; padding: .25rem 0;
  min-width: 1.6rem; }
</style>"""


class Pages(NamedTuple):
    """The pages that the first one leads to."""

    semantics: StreamlitPage
    graphs: StreamlitPage
    studies: StreamlitPage
    claims: StreamlitPage


class Entry(NamedTuple):
    """One scenario of the list, by its name."""

    name: str
    about: AboutScenario


class Counts(NamedTuple):
    """The number of claims of each verdict; ``is_own`` is False for those of the recorded board."""

    by_verdict: dict[ClaimVerdict | None, int]
    is_own: bool


class Finding(NamedTuple):
    """The first finding of a study; ``is_own`` is False for a recorded one."""

    text: str
    is_own: bool


def read_ahead() -> None:
    """Read from the store what the page shows, before its first visitor asks for it."""
    introduction()
    _board_counts()
    for name in STUDIES:
        _finding(name, code())
    for path in offered().values():
        scenario_card(path)


def home(pages: Pages) -> None:
    """What this is, the board in a bar, the studies, and the scenarios as cards."""
    draw_missing()
    st.html(STYLE)
    st.title(_("What does this gradient mean?"), anchor=False)
    _introduce(pages)
    own_mark = ""
    if _shows_recorded():
        st.caption(plain(page_recorded_with()))
        own_mark = _("run here")
    _claims(pages.claims, own_mark)
    _studies(pages.studies, own_mark)
    _scenarios(pages.semantics, own_mark)


def _shows_recorded() -> bool:
    """Whether anything on the page is recorded and not of this machine."""
    if not (introduction().is_own and _board_counts().is_own):
        return True
    for name in STUDIES:
        if not _finding(name, code()).is_own:
            return True
    abouts = map(scenario_card, offered().values())
    return any(about.card is not None and not about.is_own for about in abouts)


def _introduce(pages: Pages) -> None:
    words, picture = st.columns([5, 6], gap="large", vertical_alignment="center")
    with words:
        st.markdown(
            _(
                "One small net is written for each framework, and each differentiates it in two"
                " styles. Their gradient graphs are side by side with the values in them,"
                " paired node by node where they hold the same quantity. Where they differ, a"
                " sentence says where."
            )
        )
        st.html(_two_by_two())
        st.markdown(
            _(
                "Not only frameworks differ, styles do too: pass one tensor `[1, 2, 3]` as both"
                " arguments of `sum(a·b)`, and differentiate with respect to `a`. The tapes of"
                " MindSpore and PyTorch give `[2, 4, 6]`, their graphs and both engines of JAX"
                " give `[1, 2, 3]`."
            )
        )
        st.page_link(
            pages.graphs,
            label=_("Open these two graphs"),
            icon=":material/account_tree:",
            query_params={"scenario": INTRODUCTION},
        )
    drawing = introduction().svg
    with picture:
        if drawing:
            image = image_of(
                in_theme(drawing), _("The tape of PyTorch beside the graph of MindSpore")
            )
            st.html(f'<div class="introduction" tabindex="0">{image}</div>')
        else:
            st.caption(
                _("The picture of these two graphs appears here once they have been opened.")
            )


def _two_by_two() -> str:
    """The engines as the table that they are, in HTML of our own."""
    heads = ["<td></td>"]
    for style, meaning in STYLES.items():
        name, meant = html_escape(_(STYLE_NAMES[style])), html_escape(_(meaning))
        heads.append(f'<th scope="col">{name}<br/><small>{meant}</small></th>')
    rows = [f"<tr>{''.join(heads)}</tr>"]
    for framework, label in FRAMEWORK_LABELS.items():
        cells = [f'<th scope="row">{html_escape(label)}</th>']
        for style in STYLES:
            engine = engine_named(f"{framework}-{style}")
            name, how = html_escape(engine.name), html_escape(_(engine.how))
            cells.append(f"<td><code>{name}</code><br/><small>{how}</small></td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table class="two-by-two">{"".join(rows)}</table>'


def _claims(page: StreamlitPage, own_mark: str) -> None:
    st.header(_("What the migration guides say"), anchor=False)
    counts, is_own = _board_counts()
    if not counts:
        label = _("{count} claims, checked when they are opened").format(count=len(every_claim()))
        st.page_link(page, label=label)
        return
    st.html(_bar(counts))
    links = st.container(horizontal=True, gap="small")
    whole = _("{count} claims").format(count=sum(counts.values()))
    links.page_link(page, label=f"**{whole}**", icon=":material/fact_check:")
    for verdict, count in counts.items():
        name = verdict_name(verdict)
        links.page_link(
            page,
            label=f":{COLOURS[verdict]}[■] {count_text(count, verdict)}",
            query_params={"verdict": name},
        )
    if is_own and own_mark:
        links.caption(own_mark)


def _bar(counts: dict[ClaimVerdict | None, int]) -> str:
    """All claims as one bar, a part for each verdict as wide as its count."""
    parts = []
    for verdict, count in counts.items():
        name, colour = _(verdict_name(verdict)), SHADES[COLOURS[verdict]]
        style = f"flex: {count}; background: {colour}"
        parts.append(f'<span style="{style}" title="{html_escape(name)}">{count}</span>')
    label = named([count_text(count, verdict) for verdict, count in counts.items()])
    return (
        f'<div class="counts" role="img" aria-label="{html_escape(label)}">{"".join(parts)}</div>'
    )


@st.cache_data(ttl=60, show_spinner=False)
def _board_counts() -> Counts:
    """The number of claims of each verdict on the stored board, else on the recorded one."""
    own = stored_board(every_claim().values(), Store())
    board = own or _recorded_board()
    if board is None:
        return Counts({}, is_own=False)
    verdicts = Counter(row.verdict for row in board.rows)
    by_verdict: dict[ClaimVerdict | None, int] = {}
    for verdict in (*CLAIM_VERDICTS, None):
        if verdicts[verdict]:
            by_verdict[verdict] = verdicts[verdict]
    return Counts(by_verdict, is_own=own is not None)


@cache
def _recorded_board() -> Board | None:
    return recorded_board(every_claim().values())


@st.fragment
def _studies(page: StreamlitPage, own_mark: str) -> None:
    # A fragment: a click on a card reruns these lines alone, and then the page that it opens.
    st.header(_("Studies"), anchor=False)
    queries = {name: _study_query(name) for name in STUDIES}
    cards = []
    for name, query in queries.items():
        question = clean(_(study_topic(name).question))
        finding, is_own = _finding(name, code())
        note = own_mark if is_own else ""
        cards.append(Card(name, name, _href(page, query), question, finding, note=note))
    opened = card_grid(cards, key="cards-studies")
    if opened:
        st.switch_page(page, query_params=queries[opened])


def _study_query(name: str) -> dict[str, str]:
    """What a study is called in the address of its page."""
    on = study_topic(name).default_scenario
    # The finding on the card is that of this scenario, whichever was looked at before.
    query = {"study": name}
    if on:
        query["on"] = on
    return query


def _href(page: StreamlitPage, query: Mapping[str, str]) -> str:
    """The address of a page, relative to the app's."""
    return f"{page.url_path}?{urlencode(query)}"


@st.cache_data(ttl=60, show_spinner=False)
def _finding(name: str, language: str) -> Finding:  # the key of what is cached
    """The first finding of a study that is stored or else recorded, cut to a card's length."""
    topic = study_topic(name)
    own = stored_study(topic, target(topic, None, "cpu"), Store())
    record = own or _recorded_study(name)
    if record is None or not record.findings:
        return Finding("", is_own=False)
    finding = clean(text(record.findings[0]))
    if len(finding) > LONGEST_FINDING:
        finding = finding[:LONGEST_FINDING].rsplit(" ", 1)[0] + " …"
    return Finding(finding, is_own=own is not None)


@cache
def _recorded_study(name: str) -> StudyRecord[Text] | None:
    topic = study_topic(name)
    return recorded_study(topic, target(topic, None, "cpu"))


@st.fragment
def _scenarios(page: StreamlitPage, own_mark: str) -> None:
    # A fragment: a search reruns these lines alone.
    st.header(_("Scenarios"), anchor=False)
    wanted = follow(PLACE, ("words",))
    words = st.text_input(
        _("Search"),
        wanted.get("words", ""),
        key="words",
        placeholder=_("dropout, lstm, second …"),
        width=420,
    )
    remember(PLACE, {"words": words})
    by_folder: dict[Path, list[Entry]] = {}
    for name, path in offered().items():
        about = scenario_card(path)
        if has_words(f"{name} {about.searched}", words):
            by_folder.setdefault(path.parent, []).append(Entry(name, about))
    for place, (folder, entries) in enumerate(by_folder.items()):
        st.caption(_about_folder(folder, len(entries)))
        _cards(page, entries, own_mark, key=f"cards-{place}")
    if not by_folder:
        st.caption(_("No scenario has these words in its name, its title or its point."))


def _about_folder(folder: Path, count: int) -> str:
    if folder == scenarios_folder():
        return _("{count} small nets, each for one question").format(count=count)
    if folder == scenarios_folder() / "real":
        return _("{count} nets modelled on published ones").format(count=count)
    name = plain(folder.name)
    return _("{count} of the folder {name}").format(count=count, name=name)


def _cards(page: StreamlitPage, entries: Sequence[Entry], own_mark: str, key: str) -> None:
    opened = card_grid([_card(page, entry, own_mark) for entry in entries], key=key)
    if opened:
        st.switch_page(page, query_params={"scenario": opened})


def _card(page: StreamlitPage, entry: Entry, own_mark: str) -> Card:
    about = entry.about
    picture, badge, note = "", None, _("not run yet")
    if about.card:
        badge = _verdict(about.card)
        note = own_mark if about.is_own else ""
        if about.card.ladder:
            picture = image_source(about.card.ladder)
    return Card(
        name=entry.name,
        heading=clean(entry.name),
        href=_href(page, {"scenario": entry.name}),
        title=clean(about.title),
        point=clean(about.line),
        picture=picture,
        label=_("The gradient graph of {name}").format(name=clean(entry.name)),
        badge=badge,
        note=note,
    )


def _verdict(card: ScenarioCard) -> Badge:
    """The verdict on a scenario."""
    if card.unexpected:
        return Badge(_("{count} unexpected").format(count=card.unexpected), SHADES["red"], "!")
    if card.different:
        text = _("{count} of {cases} cases differ, as foreseen")
        text = text.format(count=card.different, cases=card.cases)
        return Badge(text, SHADES["orange"], "≠")
    text = _("all {cases} cases agree").format(cases=card.cases)
    return Badge(text, SHADES["green"], "✓")

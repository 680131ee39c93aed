"""The page of claims: the board with its counts, filters and search, and the chosen claim in full."""

from collections.abc import Iterable

import streamlit as st

from explorer.blocks.markdown import page as markdown_page
from explorer.model.claim import CLAIM_VERDICTS, HEADINGS, Board, ClaimRow, ClaimVerdict
from explorer.report.claims.programs import OF_GUIDE, ClaimProgram, programs
from explorer.report.claims.versions import claim_on_versions, versions_blocks
from explorer.report.claims.wording import (
    NOT_AS_STATED,
    NOT_RUN,
    PAGE_TITLE,
    against,
    board_as_read,
    count_form,
    counts,
    evidence_table,
    source,
    title,
    verdict_name,
)
from explorer.report.recorded.fallback import board_in_place
from explorer.report.recorded.results import recorded_board, recorded_versions
from explorer.report.wording import measured_with
from explorer.store.store import Store
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.topics import claims as every_claim
from explorer.topics.boards import board, stored_board
from explorer.web.links import Start, follow, last_shown, place_of, remember, table_start
from explorer.web.progress import recorded_with, show_or_await
from explorer.web.shared_runs import SharedRun, SharedRuns, shared_runs
from explorer.web.widgets import (
    ROW_HEIGHT,
    errors_shown,
    has_words,
    new_bar,
    optional_box,
    plain,
    selected_row,
    table_height,
)
from explorer.words.claims import GUIDES, MEANINGS, advice_text, evidence_text
from explorer.workers.workers import Workers

COLOURS: dict[ClaimVerdict | None, str] = {
    "holds": "green",
    "holds_with_changes": "blue",
    "outdated": "violet",
    "does_not_hold": "red",
    "depends_on_style": "orange",
    "not_checkable_here": "gray",
    "not_runnable_here": "gray",
    "not_judged": "orange",
    None: "gray",
}
"""Each verdict's colour; it is always shown with the name."""

SECONDS = 300.0
"""The limit of one measurement."""

PLACE = "claims"

ROWS_SHOWN = 10
"""The number of rows above which the table scrolls."""


def board_run(runs: SharedRuns) -> SharedRun[Board]:
    """The run for the board of all claims."""

    def make(workers: Workers, run: SharedRun[Board]) -> Board:
        return board(every_claim().values(), workers.limited(SECONDS), run.step, Store())

    def stored() -> Board | None:
        claims = every_claim().values()
        return stored_board(claims, Store()) or board_in_place(claims)

    return runs.start(PLACE, stored, make, "long")


def claims() -> None:
    """The board, run as soon as the page is opened."""
    st.subheader(_(PAGE_TITLE), anchor=False)
    with errors_shown():
        show_or_await(
            board_run(shared_runs()), lambda: recorded_board(every_claim().values()), show_board
        )


def show_board(whole: Board, is_recorded: bool = False) -> None:
    """Counts, filters, the table, and one claim."""
    whole = board_as_read(whole)
    measured = measured_with(whole.date, whole.versions)
    st.caption(plain(recorded_with() if is_recorded else measured))
    st.markdown(f"**{counts(whole)}**")
    before = last_shown(PLACE)
    wanted = follow(PLACE, ("claim", "topic", "verdict", "words"))
    rows = _filtered(whole, wanted)
    if not rows:
        st.caption(_("No claim fits these filters."))
        return
    _show(whole, _chosen(rows, table_start(PLACE, before, wanted, "claim")))


def count_text(count: int, verdict: ClaimVerdict | None) -> str:
    """How many claims have a verdict."""
    return _(count_form(count, verdict)).format(count=count)


def _filtered(whole: Board, wanted: dict[str, str]) -> list[ClaimRow]:
    """The rows that fit the filters, which the bar above the table asks for."""
    bar = new_bar("claims")
    topic = optional_box(bar, _("Topic"), "topic", HEADINGS, wanted, _("all"), 240)
    names = [verdict_name(verdict) for verdict in CLAIM_VERDICTS]
    verdict = optional_box(bar, _("Verdict"), "verdict", names, wanted, _("all"), 240)
    words = bar.text_input(
        _("Search"),
        wanted.get("words", ""),
        key="words",
        placeholder=_("BatchNorm, zero_grad, 35 …"),
        width=290,
    )
    remember(
        PLACE,
        {"claim": wanted.get("claim", ""), "topic": topic, "verdict": verdict, "words": words},
    )
    return [row for row in whole.rows if _fits(row, topic, verdict, words)]


def _fits(row: ClaimRow, topic: str, verdict: str, words: str) -> bool:
    if topic and row.heading != topic:
        return False
    if verdict and verdict_name(row.verdict) != verdict:
        return False
    text = " ".join((str(row.id), row.statement, evidence_text(row), advice_text(row)))
    return has_words(text, words)


def _chosen(rows: list[ClaimRow], start: Start) -> ClaimRow:
    """Show the table; the row that is selected in it, else the claim of the address, else the first."""
    numbers = [str(row.id) for row in rows]
    first = place_of(start.choice, numbers)
    table: dict[str, list[object]] = {"claim": [], "verdict": [], "statement": [], "topic": []}
    for row in rows:
        table["claim"].append(row.id)
        table["verdict"].append([_(verdict_name(row.verdict))])
        table["statement"].append(one_line(row.statement))
        table["topic"].append(_(row.heading))
    names = [_(verdict_name(verdict)) for verdict in COLOURS]
    selected = st.dataframe(
        table,
        hide_index=True,
        height=table_height(len(rows), ROWS_SHOWN),
        row_height=ROW_HEIGHT,
        column_config={
            "claim": st.column_config.NumberColumn(_("claim"), width=60),
            "verdict": st.column_config.MultiselectColumn(
                _("verdict"), options=names, color=list(COLOURS.values()), width="small"
            ),
            "statement": st.column_config.TextColumn(_("statement"), width=820),
            "topic": st.column_config.TextColumn(_("topic")),
        },
        # Other rows, or another claim in the address: another selection.
        key=f"claims {' '.join(numbers)} from {start.number}",
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [first]}},
    )
    row = rows[selected_row(selected, len(rows), first)]
    if start.choice or row is not rows[0]:
        shown = {**last_shown(PLACE), "claim": str(row.id)}
        remember(PLACE, shown)
    return row


def _show_versions(row: ClaimRow) -> None:
    """The claim on other versions, and all that changed between versions, as recorded."""
    recorded = recorded_versions()
    if recorded is None:
        return
    with st.expander(_("On other versions")):
        for line in claim_on_versions(recorded, row.id):
            st.markdown(plain(line))
        st.markdown(f"**{_('What changed between versions')}**")
        st.markdown(markdown_page(versions_blocks(recorded)))


def _show(whole: Board, row: ClaimRow) -> None:
    """One claim in full."""
    st.markdown(f"#### {row.id}. {plain(row.statement)}")
    verdict, colour = _(verdict_name(row.verdict)), COLOURS[row.verdict]
    meaning = _(MEANINGS[row.verdict] if row.verdict else NOT_RUN)
    st.markdown(f":{colour}-badge[{verdict}] {meaning}")
    st.markdown(f"**{_('If it holds:')}** {plain(row.would)}")
    _show_evidence(row)
    if advice_text(row):
        st.markdown(f"**{_('What to do.')}** {plain(advice_text(row))}")
    sources = []
    for guide in row.guides:
        text = _("{what}: {values}")
        sources.append(text.format(what=source(guide, row), values=_(GUIDES[guide])))
    st.caption(plain(_("; ").join(sources)))
    shown = programs(whole, row)
    for program in shown:
        if program.title in OF_GUIDE:
            _show_program(program)
    _show_versions(row)
    with st.expander(_("What was run")):
        for program in shown:
            if program.title not in OF_GUIDE:
                _show_program(program)


def _show_evidence(row: ClaimRow) -> None:
    """What is not as stated, and all that was measured."""
    evidence = evidence_table(row)
    if not evidence.rows:
        st.markdown(f"**{_('Evidence.')}** {plain(evidence_text(row))}")
        return
    contrary = against(row)
    if contrary:
        st.markdown(_(NOT_AS_STATED).format(what=plain(contrary)))
    # Markdown and not a dataframe: long results wrap, and the browser's search finds them.
    lines = [
        _line(column.name for column in evidence.columns),
        _line(["---"] * len(evidence.columns)),
    ]
    lines.extend(_line(map(plain, cells)) for cells in evidence.texts)
    st.markdown("\n".join(lines))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _show_program(program: ClaimProgram) -> None:
    st.markdown(f"**{plain(title(program.heading))}**")
    st.code(clean(program.code, keep="\n"))

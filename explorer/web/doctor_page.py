"""The doctor's page: versions, devices, what is missing and how to get it, workers and the store."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from explorer.drawing.layout import substitute_layout
from explorer.exploration.doctor import Check, examine
from explorer.model.engines import ENGINES
from explorer.report.markdown import escape
from explorer.report.stored import KINDS
from explorer.store.store import MEGABYTE, Entry, Store
from explorer.text.clean import clean
from explorer.web.askings import Asking, Askings, askings, watch
from explorer.web.messages import told_errors
from explorer.workers.queue import Progress
from explorer.workers.workers import Workers

PLACE = "doctor"


def ask_checks(questions: Askings) -> Asking[list[Check]]:
    """Everything looked at, once for all visitors; workers say their own versions."""

    def make(workers: Workers, progress: Progress) -> list[Check]:
        return examine(workers, substitute_layout, progress)

    def stored() -> None:
        """What is installed can change: it is looked at anew in every server."""

    return questions.ask(PLACE, stored, make)


def doctor() -> None:
    """What is installed and what is missing, the engines, the workers, and the store."""
    st.subheader("Doctor", anchor=False)
    questions = askings()
    # What is known at once comes first: the checks take as long as importing both frameworks.
    store, workers = st.columns(2, gap="large")
    with store:
        show_store(Store().entries(), Store().limit)
    with workers:
        _workers(questions.workers)
    st.markdown("##### What is installed")
    with told_errors():
        show_checks(watch(ask_checks(questions)))
    _engines()


def show_checks(checks: list[Check]) -> None:
    """A row for each thing looked at, and below how to get what is missing."""
    columns: dict[str, list[str]] = {"": [], "what": [], "found": []}
    for check in checks:
        columns[""].append(mark(check))
        columns["what"].append(clean(check.name))
        columns["found"].append(clean(check.found))
    st.dataframe(columns, hide_index=True, width="content")
    missing = [check for check in checks if check.remedy]
    if not missing:
        st.success("Nothing is missing.")
    for check in missing:
        box = st.error if check.required else st.warning
        need = "needed" if check.required else "of use"
        box(f"{escape(clean(check.name))} is {need} and missing: {escape(clean(check.found))}")
        st.code(clean(check.remedy), language="bash", wrap_lines=True)


def mark(check: Check) -> str:
    """A sign with a word: never the colour alone."""
    if check.fine:
        return "✓ ok"
    return "✗ missing" if check.required else "– missing"


def show_store(entries: Sequence[Entry], limit: int) -> None:
    """How many results of each kind are stored, how large they are, and when the last was used."""
    st.markdown("##### Store")
    megabytes = sum(entry.size for entry in entries) / MEGABYTE
    share = min(1.0, megabytes * MEGABYTE / limit) if limit else 1.0
    st.progress(share, text=f"{megabytes:.1f} of {limit / MEGABYTE:.0f} MB")
    counts = Counter(entry.kind for entry in entries)
    sizes: Counter[str] = Counter()
    for entry in entries:
        sizes[entry.kind] += entry.size
    table: dict[str, list[object]] = {"results": [], "of": [], "MB": [], "last used (UTC)": []}
    for kind, count in counts.most_common():
        used = max(entry.used for entry in entries if entry.kind == kind)
        table["results"].append(count)
        table["of"].append(KINDS.get(kind, clean(kind)))
        table["MB"].append(f"{sizes[kind] / MEGABYTE:.1f}")
        table["last used (UTC)"].append(used[:16])
    if entries:
        st.dataframe(table, hide_index=True, width="content")
    else:
        st.caption("Nothing is stored yet; `explorer warm` asks everything that is shipped.")


def _workers(workers: Workers) -> None:
    st.markdown("##### Workers")
    states = workers.states()
    st.dataframe(
        {"worker": list(states), "state": list(states.values())}, hide_index=True, width="content"
    )
    st.caption(
        "A framework runs in worker processes alone; each is started when it is first asked."
    )


def _engines() -> None:
    st.markdown("##### Engines")
    rows = [
        {"engine": engine.name, "how": engine.how, "answers in": ", ".join(engine.answers_in)}
        for engine in ENGINES.values()
    ]
    st.dataframe(rows, hide_index=True, width="content")

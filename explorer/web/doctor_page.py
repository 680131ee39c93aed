"""The doctor's page: versions, devices, what is missing and how to get it, workers and the store."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from explorer.drawing.layout import substitute_layout
from explorer.exploration.doctor import examine
from explorer.model.doctor import Check, CheckFacts
from explorer.model.engines import ENGINES
from explorer.report.stored import KINDS
from explorer.store.store import MEGABYTE, Entry, Store
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.web.asking import Asking
from explorer.web.askings import Askings, askings
from explorer.web.messages import told_errors
from explorer.web.plain_text import plain
from explorer.web.watching import watch
from explorer.words.doctor import check as worded
from explorer.workers.workers import Workers

PLACE = "doctor"


def ask_checks(questions: Askings) -> Asking[list[CheckFacts]]:
    """Everything looked at, once for all visitors; workers say their own versions."""

    def make(workers: Workers, asking: Asking[list[CheckFacts]]) -> list[CheckFacts]:
        return examine(workers, substitute_layout, asking.step)

    def stored() -> None:
        """What is installed can change: it is looked at anew in every server."""

    return questions.ask(PLACE, stored, make)


def doctor() -> None:
    """What is installed and what is missing, the engines, the workers, and the store."""
    st.subheader(_("Doctor"), anchor=False)
    questions = askings()
    # What is known at once comes first: the checks take as long as importing both frameworks.
    store, workers = st.columns(2, gap="large")
    with store:
        show_store(Store().entries(), Store().limit)
    with workers:
        _workers(questions.workers)
    st.markdown(f"#### {_('What is installed')}")
    with told_errors():
        checks = watch(ask_checks(questions))
        show_checks(list(map(worded, checks)))
    show_engines()


def show_checks(checks: list[Check]) -> None:
    """A row for each thing looked at, and below how to get what is missing."""
    marks = [mark(check) for check in checks]
    names = [clean(check.name) for check in checks]
    found = [clean(check.found) for check in checks]
    table = {_("state"): marks, _("what"): names, _("found"): found}
    wide = {_("found"): st.column_config.TextColumn(width="large")}
    st.dataframe(table, hide_index=True, width="content", height="content", column_config=wide)
    missing = [check for check in checks if check.remedy]
    if not missing:
        st.success(_("Nothing is missing."))
    for check in missing:
        box = st.error if check.required else st.warning
        needed, of_use = (
            _("{what} is needed and missing: {found}"),
            _("{what} is of use and missing: {found}"),
        )
        told = needed if check.required else of_use
        what, found_instead = plain(check.name), plain(check.found)
        box(told.format(what=what, found=found_instead))
        st.code(clean(check.remedy), language=None, wrap_lines=True)


def mark(check: Check) -> str:
    """A sign with a word: never the colour alone."""
    if check.fine:
        return f"✓ {_('ok')}"
    return f"{'✗' if check.required else '–'} {_('missing')}"


def show_store(entries: Sequence[Entry], limit: int) -> None:
    """How many results of each kind are stored, how large they are, and when the last was used."""
    st.markdown(f"#### {_('Store')}")
    megabytes = sum(entry.size for entry in entries) / MEGABYTE
    share = min(1.0, megabytes * MEGABYTE / limit) if limit else 1.0
    text = _("{used} of {limit} MB")
    st.progress(share, text=text.format(used=f"{megabytes:.1f}", limit=f"{limit / MEGABYTE:.0f}"))
    counts = Counter(entry.kind for entry in entries)
    sizes: Counter[str] = Counter()
    for entry in entries:
        sizes[entry.kind] += entry.size
    rows = []
    for kind, count in counts.most_common():
        used = max(entry.used for entry in entries if entry.kind == kind)
        row = {
            _("results"): count,
            _("of"): _(KINDS[kind]) if kind in KINDS else clean(kind),
            "MB": f"{sizes[kind] / MEGABYTE:.1f}",
            _("last used (UTC)"): used[:16],
        }
        rows.append(row)
    if entries:
        st.dataframe(rows, hide_index=True, width="content")
    else:
        st.caption(_("Nothing is stored yet; `explorer warm` runs everything that is shipped."))


def _workers(workers: Workers) -> None:
    st.markdown(f"#### {_('Workers')}")
    states = workers.states()
    table = {_("worker"): list(states), _("state"): [_(state) for state in states.values()]}
    st.dataframe(table, hide_index=True, width="content")
    st.caption(_("Frameworks run in worker processes only; each starts when it is first needed."))


def show_engines() -> None:
    """The engines, with the call that each stands for and where it answers."""
    st.markdown(f"#### {_('Engines')}")
    rows = [
        {
            _("engine"): engine.name,
            _("how"): engine.how,
            _("answers in"): ", ".join(engine.answers_in),
        }
        for engine in ENGINES.values()
    ]
    st.dataframe(rows, hide_index=True, width="content")

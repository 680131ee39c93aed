"""The doctor's page: versions, devices, what is missing and how to get it, workers and the store."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import streamlit as st

from explorer.drawing.layout import substitute_layout
from explorer.exploration.installed import examine
from explorer.model.doctor import Check, CheckFacts
from explorer.model.engines import ENGINES
from explorer.report.wording import KINDS
from explorer.store.store import MEGABYTE, Entry, Store
from explorer.text.clean import clean
from explorer.text.language import _, named
from explorer.web.progress import awaited
from explorer.web.shared_runs import SharedRun, SharedRuns, shared_runs
from explorer.web.widgets import errors_shown, plain
from explorer.words.doctor import check as worded
from explorer.words.environments import by_limit
from explorer.workers.workers import Workers

PLACE = "doctor"


def doctor_run(runs: SharedRuns) -> SharedRun[list[CheckFacts]]:
    """Everything looked at, once for all visitors; workers say their own versions."""

    def make(workers: Workers, run: SharedRun[list[CheckFacts]]) -> list[CheckFacts]:
        return examine(workers, substitute_layout, run.step)

    def stored() -> None:
        """What is installed can change: it is looked at anew in every server."""

    return runs.start(PLACE, stored, make)


def doctor() -> None:
    """What is installed and what is missing, the engines, the workers, and the store."""
    st.subheader(_("Doctor"), anchor=False)
    runs = shared_runs()
    # What is known at once comes first: the checks take as long as importing both frameworks.
    store, workers = st.columns(2, gap="large")
    with store:
        show_store(Store().entries(), Store().limit)
    with workers:
        _workers(runs.workers)
    st.markdown(f"#### {_('What is installed')}")
    with errors_shown():
        checks = awaited(doctor_run(runs))
        texts = list(map(worded, checks))
        show_checks(texts)
        show_limits(texts)
    show_engines()


def show_checks(checks: list[Check]) -> None:
    """A row for each thing looked at, and below how to get what is missing."""
    rows = []
    for check in checks:
        name, found = clean(check.name), clean(check.found)
        row = {_("state"): mark(check), _("what"): name, _("found"): found}
        rows.append(row)
    # By itself a column is as wide as what its first rows need.
    wide = {
        _("what"): st.column_config.TextColumn(width="medium"),
        _("found"): st.column_config.TextColumn(width="large"),
    }
    st.dataframe(rows, hide_index=True, width="content", height="content", column_config=wide)
    missing = [check for check in checks if check.remedy]
    if not missing:
        st.success(_("Nothing is missing."))
    for check in missing:
        box, text = st.warning, _("{what} is of use and missing: {found}")
        if check.required:
            box, text = st.error, _("{what} is needed and missing: {found}")
        box(text.format(what=plain(check.name), found=plain(check.found)))
        st.code(clean(check.remedy), language=None, wrap_lines=True)


def show_limits(checks: list[Check]) -> None:
    """What engines cannot give in environments with older versions; nothing where all is there."""
    limits = by_limit(chain.from_iterable(check.limits for check in checks))
    rows = []
    for (engine, text), environments in limits.items():
        names = plain(named(environments))  # tables render Markdown
        rows.append({_("engine"): engine, _("limit"): text, _("environments"): names})
    if rows:
        st.markdown(f"#### {_('Limited by the version')}")
        st.table(rows, hide_index=True)


def mark(check: Check) -> str:
    """A sign with a word: never the colour alone."""
    if check.fine:
        return f"✓ {_('ok')}"
    sign = "✗" if check.required else "–"
    return f"{sign} {_('missing')}"


def show_store(entries: Sequence[Entry], limit: int) -> None:
    """How many results of each kind are stored, how large they are, and when the last was used."""
    st.markdown(f"#### {_('Store')}")
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    last_used: dict[str, str] = {}
    for entry in entries:
        counts[entry.kind] += 1
        sizes[entry.kind] += entry.size
        last_used[entry.kind] = max(entry.used, last_used.get(entry.kind, ""))
    size = sizes.total()
    share = min(1.0, size / limit) if limit else 1.0
    used, most = f"{size / MEGABYTE:.1f}", f"{limit / MEGABYTE:.0f}"
    st.progress(share, text=_("{used} of {limit} MB").format(used=used, limit=most))
    rows = []
    for kind, count in counts.most_common():
        row = {
            _("results"): count,
            _("of"): clean(_(KINDS.get(kind, (kind, kind))[count != 1])),
            "MB": f"{sizes[kind] / MEGABYTE:.1f}",
            _("last used (UTC)"): last_used[kind][:16],
        }
        rows.append(row)
    if entries:
        st.dataframe(rows, hide_index=True, width="content")
    else:
        st.caption(_("Nothing is stored yet; `explorer warm` runs everything that is shipped."))


def _workers(workers: Workers) -> None:
    st.markdown(f"#### {_('Workers')}")
    states = workers.states()
    table = {_("worker"): list(states), _("state"): list(map(_, states.values()))}
    st.dataframe(table, hide_index=True, width="content")
    st.caption(_("Frameworks run in worker processes only; each starts when it is first needed."))


def show_engines() -> None:
    """The engines, with the call and the workers of each."""
    st.markdown(f"#### {_('Engines')}")
    rows = []
    for engine in ENGINES.values():
        workers = ", ".join(engine.answers_in)
        row = {_("engine"): engine.name, _("how"): _(engine.how), _("answers in"): workers}
        rows.append(row)
    st.dataframe(rows, hide_index=True, width="content")

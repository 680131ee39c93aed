"""The ``cache`` command: shows what is stored, or clears it."""

from collections import Counter

from rich.table import Table

from explorer.cli import exit_codes
from explorer.cli.output import print_document
from explorer.cli.terminal import console
from explorer.report.wording import KINDS
from explorer.store.store import MEGABYTE, Entry, Store
from explorer.text.clean import clean
from explorer.text.numbers import counted


def show_store(clear: bool, as_json: bool) -> int:
    """Print what the store holds, or remove it."""
    store = Store()
    if clear:
        count = store.clear()
        print(f"deleted {counted(count, 'result')} from {clean(str(store.folder))}")
        return exit_codes.AS_EXPECTED
    entries = store.entries()
    if as_json:
        print_document(
            {"folder": str(store.folder), "limit": store.limit, "results": list(map(_row, entries))}
        )
        return exit_codes.AS_EXPECTED
    _show(store, entries)
    return exit_codes.AS_EXPECTED


def _row(entry: Entry) -> dict[str, str | int]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "made": entry.made,
        "used": entry.used,
        "bytes": entry.size,
    }


def _show(store: Store, entries: list[Entry]) -> None:
    total = sum(entry.size for entry in entries)
    print(
        f"{clean(str(store.folder))}: {counted(len(entries), 'result')},"
        f" {total / MEGABYTE:.1f} of {store.limit / MEGABYTE:.0f} MB"
    )
    counts = Counter(entry.kind for entry in entries)
    for kind, count in counts.items():
        print(f"  {count} {KINDS.get(kind, kind)}")
    reports = [entry for entry in entries if entry.kind == "scenario"]
    if not reports:
        return
    table = Table("scenario", "made (UTC)", "last used (UTC)", "kB", box=None)
    for entry in reports:
        size = f"{entry.size / 1000:.0f}"
        table.add_row(clean(entry.name), entry.made[:16], entry.used[:16], size)
    console().print(table)

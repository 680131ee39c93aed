"""The gallery: a page for each shipped scenario, with its graphs and where they part."""

import sys
from collections.abc import Iterator
from pathlib import Path

from explorer.blocks.markdown import escape
from explorer.exploration.options import RunOptions
from explorer.exploration.stored import explored
from explorer.model.report import Report
from explorer.report.scenario.card import card_of, point
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import names
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.workers.workers import Workers

SECONDS = 300.0
"""The limit of one request to a worker."""


def pages() -> Iterator[tuple[str, str]]:
    """The gallery's index, and each scenario's page and small picture, by path."""
    scenarios = [load(path) for path in names().values()]
    yield "gallery/index.md", _index(scenarios)
    for scenario, report in _explored(scenarios):
        yield f"gallery/{scenario.name}.md", _page(scenario)
        yield f"gallery/{scenario.name}.svg", card_of(report).ladder


def _explored(scenarios: list[Declaration]) -> Iterator[tuple[Declaration, Report]]:
    """The report on each scenario's main case: what is in the store is not asked."""
    store = Store()
    with Workers(SECONDS) as workers:
        for number, scenario in enumerate(scenarios, 1):
            print(f"gallery {number}/{len(scenarios)} {scenario.name}", file=sys.stderr)
            yield (
                scenario,
                explored(scenario, RunOptions(cases="main").wanted(scenario), workers, store),
            )


def _index(scenarios: list[Declaration]) -> str:
    lines = ["# Gallery", "The scenarios that come with the explorer, each with its graphs."]
    rows = []
    for scenario in scenarios:
        name, title = scenario.name, escape(scenario.title)
        picture = f"[![{title}]({name}.svg){{ width=150 }}]({name}.md)"
        rows.append(f"| {picture} | **[{title}]({name}.md)** | {escape(point(scenario))} |")
    table = "\n".join(["| | scenario | its point |", "| --- | --- | --- |", *rows])
    return "\n\n".join([*lines, table])


def _page(scenario: Declaration) -> str:
    name = scenario.name
    text = (
        f"# {escape(scenario.title)}",
        scenario.notes,
        f"```gradient-diff\n{name}\n```",
        "## Ask it yourself",
        f"```sh\npython -m explorer scenario {name}\npython -m explorer app\n```",
        "## The scenario's file",
        f"```python\n{Path(scenario.path).read_text(encoding='utf-8').rstrip()}\n```",
    )
    return "\n\n".join(part for part in text if part)

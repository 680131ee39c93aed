"""What ``scenario`` and ``study`` do: without a name, they list what is shipped.

The lists appear at once: what runs and draws is imported only to run something.
"""

import os
import shutil
import sys
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.help_pages import wrapped
from explorer.cli.options import ScenarioOptions, StudyOptions, refuse_others
from explorer.cli.output import print_document
from explorer.model.errors import ScenarioError
from explorer.scenario.find import names, real_names
from explorer.scenario.load import load
from explorer.text.language import ENGLISH, _, later, said_in
from explorer.text.messages import one_line
from explorer.topics import STUDIES, study_topic
from explorer.words.scenarios import said

INDENT = " " * 4
"""What the text below a name begins with."""

REAL_HEADING = later("Nets modelled on published ones:")


def scenario(options: ScenarioOptions) -> int:
    """Run or write a scenario, or list those that are shipped."""
    is_list = options.name is None and options.new is None
    if not is_list or options.from_factories or options.inputs:
        from explorer.cli.scenario import run_scenario

        return run_scenario(options)
    text = _("{option} needs a scenario to run; without one, the scenarios are listed")
    refuse_others(options, ("as_json",), text)
    return list_scenarios(options.as_json)


def study(options: StudyOptions) -> int:
    """Run a study, or list all studies."""
    if options.name is not None:
        from explorer.cli.study import run_study

        return run_study(options)
    text = _("{option} needs a study to run; without one, the studies are listed")
    refuse_others(options, ("as_json",), text)
    return list_studies(options.as_json)


def list_scenarios(as_json: bool) -> int:
    """Print every scenario's name and title.

    For one that cannot be loaded, the error is printed in place of its title.
    """
    if as_json:
        with said_in(ENGLISH):
            rows = _rows(names()) + _rows(real_names())
        print_document({"scenarios": rows})
        return exit_codes.AS_EXPECTED
    _print_rows(names())
    print(f"\n{_(REAL_HEADING)}\n")
    _print_rows(real_names())
    return exit_codes.AS_EXPECTED


def _rows(paths: dict[str, Path]) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    for name, path in paths.items():
        rows.append({"name": name, "title": _title(path), "path": str(path)})
    return rows


def _print_rows(paths: dict[str, Path]) -> None:
    for name, path in paths.items():
        _print_entry(one_line(name), one_line(said(_title(path))))


def _title(path: Path) -> str:
    # One broken file must not hide the others.
    try:
        return load(path).title
    except ScenarioError as error:
        return _("cannot be loaded: {error}").format(error=error)


def list_studies(as_json: bool) -> int:
    """Print every study's name, title and question."""
    rows: list[dict[str, str]] = []
    for name in STUDIES:
        topic = study_topic(name)
        rows.append({"name": name, "title": topic.title, "question": topic.question})
    if as_json:
        print_document({"studies": rows})
        return exit_codes.AS_EXPECTED
    for row in rows:
        text = _("{title}. {question}")
        text = text.format(title=_(row["title"]), question=_(row["question"]))
        _print_entry(row["name"], text)
    return exit_codes.AS_EXPECTED


def _print_entry(name: str, text: str) -> None:
    """A name, and below it a text: in lines as wide as the terminal, elsewhere in one."""
    lines = [text]
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        lines = wrapped(text, shutil.get_terminal_size().columns - len(INDENT))
    print("\n".join([name, *(INDENT + line for line in lines)]))

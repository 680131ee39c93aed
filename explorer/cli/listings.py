"""The lists of scenarios and of studies, which commands print if no name is given.

A separate module, so that a list appears at once: what runs and draws is not imported here.
"""

from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.output import print_document
from explorer.model.errors import ScenarioError
from explorer.scenario.find import names, real_names
from explorer.scenario.load import load
from explorer.text.messages import one_line
from explorer.topics import STUDIES, study_topic
from explorer.words.scenarios import said

REAL_HEADING = "Nets modelled on published ones:"


def list_scenarios(as_json: bool) -> int:
    """Print every scenario's name and title.

    For one that cannot be loaded, the error is printed in place of its title.
    """
    small, real = _rows(names()), _rows(real_names())
    if as_json:
        print_document({"scenarios": small + real})
        return exit_codes.AS_EXPECTED
    _print_rows(small)
    print(f"\n{REAL_HEADING}\n")
    _print_rows(real)
    return exit_codes.AS_EXPECTED


def _rows(paths: dict[str, Path]) -> list[dict[str, str]]:
    rows = []
    for name, path in paths.items():
        rows.append({"name": name, "title": _title(path), "path": str(path)})
    return rows


def _print_rows(rows: list[dict[str, str]]) -> None:
    for row in rows:
        print(f"{one_line(row['name'])}\n    {one_line(said(row['title']))}")


def _title(path: Path) -> str:
    # One broken file must not hide the others.
    try:
        return load(path).title
    except ScenarioError as error:
        return f"cannot be loaded: {error}"


def list_studies(as_json: bool) -> int:
    """Print every study's name, title and question."""
    rows = []
    for name in STUDIES:
        topic = study_topic(name)
        rows.append({"name": name, "title": topic.title, "question": topic.question})
    if as_json:
        print_document({"studies": rows})
        return exit_codes.AS_EXPECTED
    for row in rows:
        print(f"{row['name']}\n    {row['title']}. {row['question']}")
    return exit_codes.AS_EXPECTED

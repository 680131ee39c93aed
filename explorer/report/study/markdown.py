"""The record of a study as Markdown."""

from collections.abc import Iterable, Iterator, Mapping

from explorer.model.study import Cell, StudyRecord
from explorer.report.markdown import escape, page, table
from explorer.report.study.cells import NO_ROWS, WHOLE, cell_text, not_measured
from explorer.report.wording import versions_text


def study_markdown(record: StudyRecord, pictures: Mapping[str, str]) -> str:
    """The record as Markdown; ``pictures`` maps a picture's title to its file beside it."""
    return page(_parts(record, pictures))


def _parts(record: StudyRecord, pictures: Mapping[str, str]) -> Iterator[str]:
    yield f"# {escape(record.title)}"
    yield escape(record.question)
    yield f"Measured with {escape(versions_text(record.versions))}."
    yield "\n".join(f"- {escape(finding)}" for finding in record.findings)
    for title, file in pictures.items():
        yield f"![{escape(title)}]({file})"
    for study_table in record.tables:
        yield f"## {escape(study_table.title)}"
        yield escape(study_table.note)
        if study_table.rows:
            yield table(study_table.columns, map(_cells, study_table.rows))
        else:
            yield NO_ROWS
    reasons = not_measured(record)
    if reasons:
        yield "## Not measured"
        yield f"Messages are shortened; {WHOLE}."
        yield "\n".join(f"- {escape(name)}: {escape(why)}" for name, why in reasons.items())


def _cells(row: Iterable[Cell]) -> list[str]:
    return [cell_text(value) for value in row]

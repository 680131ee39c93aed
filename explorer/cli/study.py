"""The ``study`` command: a study with its tables, pictures and record."""

from collections.abc import Sequence
from pathlib import Path

from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.options import StudyOptions, check_seconds, chosen_formats
from explorer.cli.output import prepared, print_document, print_stored, write_file
from explorer.cli.terminal import console, progress
from explorer.model.errors import MissingFrameworkError
from explorer.model.failures import MISSING_FRAMEWORK
from explorer.model.measurement import Measured
from explorer.model.message import Text
from explorer.model.results import LOST
from explorer.model.study import StudyRecord
from explorer.report.recorded.fallback import notice, study_in_place
from explorer.report.schemas import study_document
from explorer.report.study import DEFAULT_FORMATS, FORMATS, study_blocks, study_files
from explorer.scenario.devices import parse
from explorer.store.store import Store, to_stderr
from explorer.text.language import _
from explorer.topics import study_topic
from explorer.topics.question import Target
from explorer.topics.studies import refused_by_some, study, target
from explorer.topics.topic import Topic
from explorer.workers.workers import Workers


def run_study(options: StudyOptions) -> int:
    """Run a study; print its tables or its record, and write its files if a folder is given."""
    formats = chosen_formats(options.formats, options.out, FORMATS, DEFAULT_FORMATS)
    parse(options.device)
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    topic = study_topic(options.name or "")
    subject = target(topic, options.scenario, options.device)
    folder = prepared(options.out)
    limit = topic.seconds if options.request_timeout is None else options.request_timeout
    recorded = None if options.fresh else study_in_place(topic, subject)
    if recorded is not None:
        to_stderr(notice())
        record = recorded
    else:
        store = Store(fresh=options.fresh)
        with Workers(limit, options.timeout) as workers, progress() as step:
            record = study(topic, subject, workers, step, store)
        print_stored(store.used("measurement"), len(record.measured))
    if options.as_json:
        print_document(study_document(record))
    else:
        show(study_blocks(record), console())
    if folder:
        _write(record, formats, folder, is_quiet=options.as_json)
    return exit_code(topic, subject, record)


def _write(
    record: StudyRecord[Text], formats: Sequence[str], folder: Path, *, is_quiet: bool
) -> None:
    """Write the files of a record; says once of what is missing that what needs it is not written."""
    said: set[str] = set()
    for name, make in study_files(record, formats):
        try:
            content = make()
        except MissingFrameworkError as error:
            if str(error) not in said:
                text = _("not written: {reason}")
                to_stderr(text.format(reason=error))
            said.add(str(error))
            continue
        write_file(folder / name, content, is_quiet=is_quiet)


def exit_code(topic: Topic, subject: Target, record: StudyRecord[Text]) -> int:
    """The exit code of a record: LOST if a framework is missing, or a worker died or timed out.

    DIFFERENT if an engine rejects the scenario and another one runs it.
    """
    if any(_is_lost(measured) for measured in record.measured.values()):
        return exit_codes.LOST
    is_refused = bool(refused_by_some(topic, subject, record))
    return exit_codes.DIFFERENT if is_refused else exit_codes.AS_EXPECTED


def _is_lost(measured: Measured) -> bool:
    """Whether figures are missing because a framework, a worker or time was."""
    # What a framework rejects is a finding; only what says nothing about the framework counts.
    is_missing = measured.error is not None and measured.error.type == MISSING_FRAMEWORK
    return is_missing or measured.outcome in (*LOST, "not_asked")

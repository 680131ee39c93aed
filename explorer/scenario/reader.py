"""Reads what a scenario's file declares in a separate process, so that this one never runs its text.

Whatever a text does where it is run — it exits, crashes, loops, prints, changes
the working directory — it does there.
"""

from pathlib import Path

from explorer.model.errors import ScenarioError, UnreadScenarioError, UsageError
from explorer.scenario.declaration import SENT, Declaration, decoded
from explorer.scenario.find import SHIPPED, files_read
from explorer.scenario.load import load
from explorer.scenario.reading import File, Reading
from explorer.store.keys import key_of
from explorer.store.store import Store
from explorer.text.failures import message
from explorer.text.language import _, code
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

SECONDS = 60.0
"""Seconds that a file may take to be read, with its inputs() and parameters()."""


def read(path: Path | str, *, fresh: bool = False, seconds: float = SECONDS) -> Declaration:
    """The declaration in a file, as load() gives it; its nets cannot be made in this process.

    The text of a shipped one is trusted, and run here. What was read before is
    taken from the store, unless ``fresh``. Raises ScenarioError as load() does,
    and UnreadScenarioError where the process that ran the text died, took
    longer than ``seconds``, or used too much memory.
    """
    path = Path(path).resolve()
    if path.parent in SHIPPED or path.suffix == SENT:
        return load(path)
    try:
        key = key_of("reading", path.stem, files_read(path))
    except OSError:
        return load(path)  # it says that the file cannot be read
    # Whoever stores the results reports that nothing can be stored.
    store = Store(fresh=fresh, tell=lambda message: None)
    known = store.get(key, bytes)
    if known is None:
        known = _in_own_process(path, seconds)
        store.put(key, known)
    return decoded(known, path)


def _in_own_process(path: Path, seconds: float) -> bytes:
    with Workers(job_seconds=seconds) as workers:
        target = "explorer.scenario.reading:in_this_process"
        try:
            reading = workers.call("scenario", target, File(str(path), code()), Reading)
        except UsageError as error:
            raise ScenarioError(str(error)) from error
    if isinstance(reading, Reading):
        return reading.declaration
    text = _("{file}: the scenario file cannot be read: {reason}")
    raise UnreadScenarioError(text, file=path, reason=_loss(reading, seconds))


def _loss(lost: Lost, seconds: float) -> str:
    if lost.outcome == "crashed":
        return message(lost.failure)
    text = _("importing it and calling inputs() and parameters() took more than {seconds:g} s")
    return text.format(seconds=seconds)

"""The workers that tests share: what they have replied before is not asked again."""

import hashlib
from pathlib import Path

import msgspec

from explorer.model.engines import WorkerKind
from explorer.model.errors import UsageError
from explorer.model.measurement import Measured, Measurement
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured
from explorer.scenario.replies import KeptReplies
from explorer.store.keys import Key
from explorer.store.store import REPLY, Store
from explorer.topics.measurements import TARGET, can_be_kept
from explorer.topics.measurements import key as key_of_measurement
from explorer.workers.protocol import Lost
from explorer.workers.workers import Reply, Workers


class RepliesOfTests(KeptReplies):
    """Replies of engines, and measurements: the explorer itself stores these with their day."""

    def key(self, kind: WorkerKind, target: str, argument: msgspec.Struct) -> Key | None:
        """As KeptReplies.key."""
        if target != TARGET or not isinstance(argument, Measurement):
            return super().key(kind, target, argument)
        try:
            measured = key_of_measurement(argument)
        except (OSError, UsageError):
            return None
        # Programs that are printed name the scenario's folder.
        place = f"{measured.digest} {argument.scenario}".encode()
        return Key(REPLY, measured.name, hashlib.sha256(place).hexdigest())

    def keep(self, key: Key, reply: object) -> None:
        """As KeptReplies.keep."""
        if not isinstance(reply, Measured) or can_be_kept(reply):
            super().keep(key, reply)


class Remembering(Workers):
    """Workers that keep their replies in a folder, and what they captured by scenario, engine and case.

    The answer that comes with a graph is in no report.
    """

    def __init__(self, kept: Path) -> None:
        super().__init__(request_seconds=300)  # on a busy machine everything takes long
        self.replies = RepliesOfTests(Store(kept))
        self.captured: dict[tuple[str, str, str], Captured] = {}

    def __enter__(self) -> "Remembering":
        return self

    def call(
        self, kind: WorkerKind, target: str, argument: msgspec.Struct, reply: type[Reply]
    ) -> Reply | Lost:
        """As Workers.call."""
        answer = super().call(kind, target, argument, reply)
        if isinstance(argument, CaseRequest) and isinstance(answer, Captured):
            scenario = Path(argument.net.scenario).stem
            self.captured[scenario, argument.net.engine, argument.case.label] = answer
        return answer

"""Workers that remember what they captured: the answer that comes with a graph is in no report."""

from pathlib import Path

import msgspec

from explorer.model.engines import WorkerKind
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured
from explorer.workers.protocol import Lost
from explorer.workers.workers import Reply, Workers


class Remembering(Workers):
    """Workers that keep what they captured, by scenario, engine and case."""

    def __init__(self) -> None:
        super().__init__(request_seconds=300)  # on a busy machine everything takes long
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

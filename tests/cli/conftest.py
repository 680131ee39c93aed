"""Commands in this process with the session's workers: training and traces too."""

from contextlib import nullcontext

import pytest

from explorer.workers.workers import Workers


@pytest.fixture
def warm(warm: None, workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands called in this process use the session's workers: starting them takes seconds."""
    for command in ("train", "traces"):
        monkeypatch.setattr(f"explorer.cli.{command}.Workers", lambda *_: nullcontext(workers))

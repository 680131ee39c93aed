"""``mend`` as a function: the patch that makes two nets give the same, and what was seen with it."""

import math
from pathlib import Path
from typing import Any

import msgspec

from explorer.api import notebook
from explorer.api.functions import Net, scenario_of
from explorer.mending.asked import apply, asked
from explorer.mending.mend import mend as find_patch
from explorer.model.causes import Cause
from explorer.model.patch import Patch, Proof
from explorer.model.report import Report
from explorer.report.diff import do_differ
from explorer.report.patch import mend_lines, unified
from explorer.store.store import Store
from explorer.words.patches import proof_text
from explorer.workers.workers import REQUEST_SECONDS, Workers


class MendedNet(msgspec.Struct, frozen=True):
    """What ``mend`` has found of two engines: the ``report`` on the nets as they are, and a patch or None."""

    report: Report
    engines: tuple[str, str]
    found: Patch | None

    @property
    def is_mended(self) -> bool:
        """Whether there is a patch, or nothing to mend."""
        return self.found is not None or not do_differ(self.report)

    @property
    def patch(self) -> str:
        """The patch as a unified diff, which ``git apply`` and ``patch -p1`` take; "" without one."""
        return "".join(f"{line}\n" for line in unified(self.found)) if self.found else ""

    @property
    def proof(self) -> Proof | None:
        """What a copy of the net gave with the patch."""
        return self.found.proof if self.found else None

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes of the divergences that the patch mends, as far as they are known."""
        return self.found.causes if self.found else ()

    def apply(self) -> tuple[Path, ...]:
        """Write the patched texts into their files, and give these; none without a patch.

        Raises UsageError where a file was changed meanwhile, or cannot be written.
        """
        if self.found is None:
            return ()
        apply(self.found)
        return tuple(Path(mended.file) for mended in self.found.files)

    def __repr__(self) -> str:
        said = proof_text(self.proof) if self.proof else str(self).splitlines()[-1]
        return f"<MendedNet: {said}>"

    def __str__(self) -> str:
        return "\n".join(mend_lines(self.report, self.found, self.engines))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": notebook.plain_text(str(self))}


def mend(
    net: Net,
    left: str = "",
    right: str = "",
    *,
    side: str = "",
    device: str = "cpu",
    fresh: bool = False,
    timeout: float = math.inf,
    request_timeout: float = REQUEST_SECONDS,
) -> MendedNet:
    """Look for the patch with which two nets give the same, as ``explorer mend`` does.

    Without engines those are compared of PyTorch's net and of the port. ``side`` is the net that is
    mended: "left", "right" or a framework, by default the one that is not PyTorch's. Of nets() its
    package is mended. Raises as explore() does.
    """
    with scenario_of(net, fresh=fresh) as scenario:
        engines, chosen = asked(scenario, left, right, side, device)
        with Workers(request_timeout, timeout) as workers:
            store = Store(fresh=fresh)
            report, found = find_patch(scenario, engines, workers, store, chosen, device)
    return MendedNet(report, engines, found)

"""Verdicts on the guides' statements, each with its evidence, and the board of all of them."""

from typing import Literal, get_args

import msgspec

from explorer.model.engines import Framework
from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.model.message import Text

ClaimVerdict = Literal[
    "holds",
    "holds_with_changes",
    "outdated",
    "does_not_hold",
    "depends_on_style",
    "not_checkable_here",
    "not_runnable_here",
    "not_judged",
]

CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)

HEADINGS = (
    "gradients",
    "loss scaling",
    "training",
    "tape and graph",
    "networks",
    "devices",
    "operators",
    "optimizers",
    "parallel",
)
"""The names of the headings under which the board lists its claims, in order."""

GUIDES = ("000", "001", "002", "003", "004", "ours")
"""The numbers that claims refer to documents with."""


class Observation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of evidence: what was measured, the value that was found, and of which parties.

    ``value`` is a figure, a message or a name found in an API, as a reader has it; it is empty where
    ``what`` says everything. ``who`` are names of parties, none for what is not of one party.
    ``expected`` is whether the value is what the statement says; None where it says nothing of it.
    """

    what: Text
    value: Text = ""
    who: tuple[str, ...] = ()
    expected: bool | None = None


class Ruling(msgspec.Struct, frozen=True):
    """A verdict on a statement, and the evidence for it.

    ``advice`` names what a reader should do where that depends on more than the verdict: a name of
    the claim's advice in words/topics, or a message.
    """

    verdict: ClaimVerdict
    evidence: tuple[Observation, ...]
    advice: Text = ""


class Listing(msgspec.Struct, frozen=True):
    """Code that a guide prints, or that it must have meant, and the measurements that ran it."""

    code: str
    measured: tuple[str, ...]


# JSON says "topic"; in the code a Topic is what a study and claims belong to.
class ClaimRow(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"heading": "topic"}
):
    """One claim on the board: its verdict, with evidence and advice.

    ``verdict`` is None where the claim could not be run, and "not_runnable_here" where that is for
    packages, or parts of a framework, that are not installed; ``not_run`` has the reasons by the
    names of measurements. It is "not_judged" where the judge did not know an answer. ``advice`` is
    that of Ruling. ``would`` says what is true if the statement holds; ``measured`` names the
    measurements that were looked at.
    ``sections`` are the headings in the guides that the statement stands under, by guide.
    ``printed`` has the statements of the guide's code, ``meant`` what was run beside it; both are
    empty where none of it is run.
    """

    id: int
    heading: str
    statement: str
    guides: tuple[str, ...]
    would: str
    verdict: ClaimVerdict | None
    measured: tuple[str, ...]
    advice: Text = ""
    sections: dict[str, str] = {}
    observations: tuple[Observation, ...] = ()
    not_run: dict[str, Failure] = {}
    printed: tuple[Listing, ...] = ()
    meant: tuple[Listing, ...] = ()


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Verdicts on the guides' statements, on the versions that are installed.

    ``measured`` holds all measurements by name.
    """

    schema: int = 1
    date: str
    versions: dict[str, str]
    rows: tuple[ClaimRow, ...]
    measured: dict[str, Measured] = {}


class Tried(msgspec.Struct, frozen=True):
    """A version of a framework on which the claims were judged, and the environment that has it.

    ``environment`` is "" of the explorer's own.
    """

    framework: Framework
    version: str
    environment: str


class VersionsRow(msgspec.Struct, frozen=True):
    """One claim on all versions that were tried, in their order; None where it could not be run."""

    id: int
    statement: str
    verdicts: tuple[ClaimVerdict | None, ...]


class VersionsFact(msgspec.Struct, frozen=True, kw_only=True):
    """What a framework gives somewhere, on all versions that were tried, in their order.

    ``at`` is a kink, or the name of the program of a surprise in docs/surprises, and ``of`` the engine or
    the line that the program prints. ``values`` have None where the version is one of the other framework,
    or gives nothing.
    """

    kind: Literal["kink", "surprise"]
    at: Text
    of: Text
    values: tuple[Text | None, ...]


class VersionsBoard(msgspec.Struct, frozen=True, kw_only=True):
    """Verdicts on the guides' statements, and gradients at kinks and what surprises print, by version.

    Each version of a framework was run with the version of the other that ``beside`` names.
    """

    schema: int = 1
    date: str
    beside: dict[str, str]
    tried: tuple[Tried, ...]
    rows: tuple[VersionsRow, ...]
    facts: tuple[VersionsFact, ...] = ()

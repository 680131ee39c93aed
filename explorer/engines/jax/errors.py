"""Failures of JAX: where its messages end, and which of them mean that a net cannot be traced."""

import re
from typing import Literal

import jax

from explorer.engines import failures
from explorer.model.failures import Failure
from explorer.model.requests import CaseRequest
from explorer.model.results import Result

ENDS = re.compile(
    r"\n+(See https://|This Tracer was created|The problem arose|-{10,}|For simplicity, JAX)"
    r"|(?<=JVPTracer'>) with value|,? with value Traced|\n  primal ="
)
"""The end of the message proper (JAX 0.6.2): the printed tracers and advice follow."""

UNTRACED = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerBoolConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
    NotImplementedError,
)
"""What jax.jit raises for a net whose Python depends on values."""


def failure(error: BaseException, scenario: str) -> Failure:
    """The record of an exception: its type, the message, and the scenario's line that it names."""
    return failures.failure(error, scenario, _statement, prefer="traceback")


def failed(request: CaseRequest, error: Exception, code: str = "") -> Result:
    """The result of a case whose computation raised."""
    return Result(outcome=outcome(error), error=failure(error, request.net.scenario), code=code)


def outcome(error: BaseException) -> Literal["raised", "unsupported"]:
    """The outcome that an exception means: "unsupported" where jax.jit has no way to hold the net."""
    return "unsupported" if isinstance(error, UNTRACED) else "raised"


def _statement(text: str) -> failures.Statement:
    return failures.Statement(ENDS.split(text, maxsplit=1)[0])

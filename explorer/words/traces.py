"""What a trace does not have, in sentences, and how two programs get the start of one."""

from collections.abc import Iterator, Sequence

from explorer.model.engines import FRAMEWORK_LABELS, Framework
from explorer.model.trace import Missing, MissingKind
from explorer.text.language import _, later

TEXTS: dict[MissingKind, str] = {
    "fault": later("the recorder failed, and recorded nothing behind that point: {error}"),
    "raised": later("the step raised {error}; what ran before is recorded"),
    "memory": later(
        "the tensors of the step need more than {detail} MB; what ran behind that point is not recorded"
    ),
    "full": later("of the last steps all but the losses: the record has reached {detail} MB"),
    "compiled": later(
        "the inside of compiled parts is not recorded ({detail} of them in backward)"
    ),
    "compiled_eagerly": later(
        "compiled modules ran op by op while they were recorded: their values may differ from those of"
        " other steps by rounding"
    ),
    "compiled_calls": later(
        "the inside of compiled functions is not recorded (calls of ms.jit and of optimizers: {detail})"
    ),
    "other_version": later("steps of this version: they are recorded in {detail}"),
    "older_version": later("the graph: it needs MindSpore {detail} or newer"),
    "older_backward": later(
        "the operators of backward one by one: they need MindSpore {detail} or newer"
    ),
    "graph_mode": later(
        "what GRAPH_MODE compiles; start the program with `explorer run`, which records its gradients"
    ),
    "unknown_heads": later("a backward pass started from something other than tensors"),
    "no_pass": later(
        "no gradient was seen: none was computed, or inside of a loop, or of many examples at once"
    ),
    "not_recorded": later("no framework whose steps can be recorded was imported"),
    "inside_another": later("the block was inside another block that records"),
}


def missing_text(missing: Missing) -> str:
    """Why something is missing, in a sentence; it holds foreign text."""
    error = missing.error
    raised = f"{error.type}: {error.message}" if error and error.message else ""
    if error and not raised:
        raised = error.type
    text = _("not recorded: {what}")
    return text.format(what=_(TEXTS[missing.kind]).format(detail=missing.detail, error=raised))


LOADS: dict[Framework, str] = {
    "torch": "net.load_state_dict({start})",
    "mindspore": "ms.load_param_into_net(net, {start})",
}
"""The line that gives a net of each framework the start that a file has."""


def one_start(files: Sequence[str], frameworks: Sequence[Framework]) -> Iterator[str]:
    """How two programs get one start: that of the first file, or of the one whose program takes no other."""
    both = zip(files, frameworks, strict=True)
    file = next((one for one, framework in both if framework not in LOADS), files[0])
    start = f"explorer.start({file!r}, net)"
    lines = [
        f"  {FRAMEWORK_LABELS[framework]}: {LOADS[framework].format(start=start)}"
        for framework in dict.fromkeys(frameworks)
        if framework in LOADS
    ]
    if lines:
        text = _("to give both programs the start of {file}, load it before the first step:")
        yield text.format(file=file)
    yield from lines

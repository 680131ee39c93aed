"""The compiled program of a gradient as a graph: what XLA fuses, and what it computes twice."""

import re
from collections.abc import Iterator, Sequence

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.jax.hlo import Instruction, Module, read_module
from explorer.engines.jax.operator_arguments import DEFAULT_NAMES, operand_name
from explorer.engines.jax.rule_numbers import MARK, FirstOfRules
from explorer.engines.jax.source_lines import source
from explorer.model.graph import Absence, GradGraph, NodeKind, Output, Phase

STAGE = "hlo"

DTYPES = {
    "pred": "bool",
    "s": "int",
    "u": "uint",
    "f": "float",
    "bf": "bfloat",
    "c": "complex",
}
"""Our names of XLA's dtypes, whose size stands behind them: "f32" is "float32"."""

FUSION = "fusion"
"""Instructions that run as one loop over the elements."""

INSIDE = frozenset({FUSION, "call"})
"""Instructions whose computations are drawn in their place."""

TRANSFORM = re.compile(r"^(?P<name>\w+)\((?P<inner>.*)\)$")
DTYPE = re.compile(r"^(?P<name>[a-z]+)(?P<size>\w*)$")

Leaf = tuple[NodeKind, str]
"""The kind and the name of an argument."""


def compiled_graph(
    text: str, leaves: Sequence[Leaf], results: Sequence[str], scenario: str, engine: str, case: str
) -> GradGraph:
    """The graph of a compiled module.

    ``leaves`` are its arguments, ``results`` the names of its results, each in order; "" is a result
    that has none.
    """
    return _Drawn(read_module(text), leaves, results, scenario).record(engine, case)


class _Drawn:
    """A module as nodes and edges, while they are made."""

    def __init__(
        self, module: Module, leaves: Sequence[Leaf], results: Sequence[str], scenario: str
    ) -> None:
        self._module = module
        self._scenario = scenario
        self._builder = GraphBuilder()
        self._of_rules = FirstOfRules()
        slots = [self._leaf(*leaf) for leaf in leaves]
        made = self._run(module.entry, [[slot] for slot in slots], "")
        for name, slot in zip(results, made, strict=True):
            if name:
                self._result(name, slot)

    def record(self, engine: str, case: str) -> GradGraph:
        """The record of the graph."""
        return self._builder.record(engine, case, STAGE)

    def _leaf(self, kind: NodeKind, name: str) -> Slot:
        return self._builder.add(kind, kind, "forward", name=name), 0

    def _result(self, name: str, slot: Slot) -> None:
        leaf = self._builder.leaves().get(name.removeprefix("d"))
        node = self._builder.nodes[slot[0]]
        phase: Phase = "forward" if leaf is None else "backward"
        outputs = node.outputs[slot[1] : slot[1] + 1]
        self._builder.add(
            "output", "output", phase, (slot,), name=name, forward=leaf, outputs=outputs
        )

    def _run(self, computation: str, arguments: Sequence[list[Slot]], body: str) -> list[Slot]:
        """Draw a computation; the slots of its result, several of a tuple."""
        known: dict[str, list[Slot]] = {}
        numbers: dict[str, str] = {}
        for it in self._module.computations[computation]:
            if it.op == "constant" and not it.shapes[0][1]:
                numbers[it.name] = it.text  # a number counts as written where it is read
                continue
            if it.op == "parameter":
                known[it.name] = arguments[int(it.text)]
                self._describe(known[it.name], it)
                continue
            operands = [known.get(name, []) for name in it.operands]
            written = [numbers.get(name) for name in it.operands]
            known[it.name] = self._made(it, operands, written, body)
        return known[self._module.root(computation).name]

    def _made(
        self,
        it: Instruction,
        operands: Sequence[list[Slot]],
        written: Sequence[str | None],
        body: str,
    ) -> list[Slot]:
        """The slots of an instruction: of tuples no node is drawn, of fusions what is in them."""
        if it.op == "tuple":
            return [slot for slots in operands for slot in slots]
        if it.op == "get-tuple-element":
            place = int(it.attributes["index"])
            return operands[0][place : place + 1]
        # A number among the arguments has no node that could be handed on.
        if it.op in INSIDE and len(it.calls) == 1 and all(operands):
            inside = it.name if it.op == FUSION else body
            return self._run(it.calls[0], operands, inside)
        return self._add(it, operands, written, body)

    def _describe(self, slots: Sequence[Slot], it: Instruction) -> None:
        """Give an argument of the program its shape."""
        if len(slots) == 1 and not self._builder.nodes[slots[0][0]].outputs:
            self._builder.nodes[slots[0][0]].outputs = tuple(_outputs(it))

    def _add(
        self,
        it: Instruction,
        operands: Sequence[list[Slot]],
        written: Sequence[str | None],
        body: str,
    ) -> list[Slot]:
        inputs = tuple(slot for slots in operands for slot in slots)
        scope, rule, is_transposed = _names_of(it.op_name)
        reads_backward = any(
            self._builder.nodes[origin].phase == "backward" for origin, _ in inputs
        )
        phase: Phase = "backward" if is_transposed or reads_backward else "forward"
        missing: dict[str, Absence] = {}
        lines = source(((it.file, it.line),), self._scenario) if it.file else ()
        if not lines:
            missing["source"] = Absence("added_by_capture")
        forward = None
        if phase == "backward":
            forward = self._of_rules.of(rule)
            if forward is None:
                missing["forward"] = Absence("merged")
        kind: NodeKind = "constant" if it.op == "constant" else "op"
        number = self._builder.add(
            it.op,
            kind,
            phase,
            inputs,
            scope=scope,
            body=body,
            source=lines,
            forward=forward,
            outputs=tuple(_outputs(it)),
            arguments=dict(self._arguments(it, written)),
            missing=missing,
        )
        if phase == "forward":
            self._of_rules.add(rule, number)
        return [(number, output) for output in range(len(it.shapes))]

    def _arguments(
        self, it: Instruction, written: Sequence[str | None]
    ) -> Iterator[tuple[str, str]]:
        """What is written into an instruction: numbers, attributes, and what a reduction computes."""
        for place, number in enumerate(written):
            if number is not None:
                yield operand_name(DEFAULT_NAMES, place), number
        yield from it.attributes.items()
        if it.op not in INSIDE:
            for name in it.calls:
                yield "to_apply", self._module.root(name).op


def _outputs(it: Instruction) -> Iterator[Output]:
    for dtype, shape in it.shapes:
        yield Output(shape, _dtype(dtype))


def _dtype(name: str) -> str:
    """Our name of one of XLA's dtypes; one that has none keeps its own."""
    parts = DTYPE.match(name)
    known = DTYPES.get(parts["name"]) if parts else None
    return f"{known}{parts['size']}" if parts and known else name


def _names_of(op_name: str) -> tuple[str, tuple[str, ...], bool]:
    """The scope of the user's, the numbers of rules, and whether it is of the backward pass.

    ``op_name`` is a path of scopes, with transformations around some, and the operation at its end:
    "jit(net)/transpose(jvp(fc))/§3/dot_general".
    """
    scopes, transforms = [], []
    for part in op_name.split("/")[:-1]:
        inner, found = part, TRANSFORM.match(part)
        if found and found["name"] in ("jit", "pjit"):
            continue
        while found:
            transforms.append(found["name"])
            inner = found["inner"]
            found = TRANSFORM.match(inner)
        scopes.append(inner)
    rule = tuple(scope for scope in scopes if scope.startswith(MARK))
    users = (scope for scope in scopes if scope and not scope.startswith(MARK))
    return ".".join(users), rule, transforms[:1] == ["transpose"]

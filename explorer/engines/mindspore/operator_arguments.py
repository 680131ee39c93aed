"""What MindSpore's operators take beside tensors, by the names of their documentation.

The compiler and the dispatcher hand arguments on by position. Their names stand in the Python
classes of the operators (2.10.0): in the call that a generated class makes, and in the attributes
of an older one.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import mindspore as ms
from mindspore.ops import operations
from mindspore.ops.auto_generate import gen_ops_prim, pyboost_inner_prim
from mindspore.ops.operations import _grad_ops, _inner_ops
from mindspore.ops.operations.manually_defined import ops_def

from explorer.engines.mindspore.enumerations import readable
from explorer.engines.mindspore.ir.records import (
    Scalar,
    SequenceValue,
    StringValue,
    Symbol,
    Value,
)
from explorer.engines.mindspore.ir_statements import Binding, IRStatement
from explorer.engines.plain_values import PlainArguments, plain_arguments
from explorer.model.graph import Absence

MODULES = (gen_ops_prim, ops_def, pyboost_inner_prim, _grad_ops, _inner_ops, operations)
"""Where the classes of operators are, the generated ones first."""

GENERATED = "new_generated_"
"""What a generated class puts before the name of an argument that it has converted."""

INPUT = re.compile(r"^\s*- \*\*(\w+)\*\*", re.MULTILINE)
"""An entry of the section "Inputs" of a docstring."""


class OperatorNames(NamedTuple):
    """The arguments of an operator.

    ``order`` are the names of all that the compiler hands on, tensors too; ``attributes`` those of
    the arguments that an older operator keeps as attributes.
    """

    order: tuple[str, ...]
    attributes: frozenset[str]


@cache
def names_of(op: str) -> OperatorNames | None:
    """The names of an operator's arguments; None where Python has no class of it."""
    kind = class_of(op)
    if kind is None:
        return None
    constructor = inspect.signature(kind.__init__).parameters
    attributes = frozenset(constructor) - {"self"}
    documentation = inspect.getdoc(kind) or ""
    if "__call__" not in kind.__dict__:
        return OperatorNames(_documented_inputs(documentation), attributes)
    known = attributes | set(inspect.signature(kind.__call__).parameters)
    order = _order(inspect.getsource(kind.__call__), known, documentation)
    return OperatorNames(tuple(order), attributes)


def class_of(op: str) -> Any:
    """The Python class of an operator; None where there is none."""
    for module in MODULES:
        kind = getattr(module, op, None)
        if isinstance(kind, type):
            return kind
    return None


def _documented_inputs(documentation: str) -> tuple[str, ...]:
    """The names in the section "Inputs" of a docstring."""
    section = documentation.partition("Inputs:")[2].partition("Outputs:")[0]
    return tuple(INPUT.findall(section))


def _order(source: str, known: Iterable[str], documentation: str) -> Iterator[str]:
    """The names of what a generated class hands on, in order."""
    for argument in _handed_on(ast.parse(textwrap.dedent(source))):
        if isinstance(argument, ast.Starred):
            # A class of this kind takes its tensors together.
            yield from _documented_inputs(documentation)
        else:
            yield _name(argument, known)


def _handed_on(tree: ast.AST) -> list[ast.expr]:
    """The arguments of the call by which a generated class runs its operator.

    That is ``super().__call__(x, self.axis)``, ``jit_context().run_op(self, result, x, self.axis)``
    or ``pyboost_softmax(self, [x, self.axis])``.
    """
    handed: list[ast.expr] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__call__":
            return node.args
        if isinstance(node.func, ast.Attribute) and node.func.attr == "run_op":
            return node.args[2:]
        if isinstance(node.func, ast.Name) and node.func.id.startswith("pyboost_"):
            last = node.args[-1]
            handed = last.elts if isinstance(last, ast.List) else node.args[1:]
    return handed


def _name(argument: ast.expr, known: Iterable[str]) -> str:
    """The name of an argument in ``dim``, ``self.axis`` or ``convert('Op', 'dim', new_generated_dim)``."""
    for node in ast.walk(argument):
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Name):
            name = node.id.removeprefix(GENERATED)
        if name in known:
            return name
    return ""


def takes_more_than_tensors(op: str) -> bool:
    """Whether an operator may take anything beside one tensor."""
    names = names_of(op)
    return names is None or len(names.order) > 1 or bool(names.attributes)


def call_arguments(op: str, values: Sequence[Any], primitive: Any = None) -> PlainArguments:
    """The arguments of an operator that was called with ``values``.

    An older operator has some as attributes of its ``primitive``.
    """
    names = names_of(op)
    if names is None:
        return _unnamed(value for value in values if not isinstance(value, ms.Tensor))
    named = dict(zip(names.order, values, strict=False))
    if primitive is not None:
        for name in sorted(names.attributes - set(names.order)):
            value = primitive.attrs.get(name, getattr(primitive, name, primitive))
            if value is not primitive:
                named[name] = value
    return plain_arguments(readable(named))


def statement_arguments(statement: IRStatement, bindings: Sequence[Binding]) -> PlainArguments:
    """The arguments of a statement of a program; ``bindings`` are those of its operands."""
    names = names_of(statement.op)
    given = _without_tensors(statement.operands, bindings)
    if names is None:
        return _unnamed(given)
    written = {names.order[place]: value for place, value in given.items() if names.order[place:]}
    attributes = statement.node.attrs
    written.update({name: attributes[name] for name in attributes if name in names.attributes})
    known = {name: _python_value(value) for name, value in written.items() if _is_constant(value)}
    computed = [name for name in written if name not in known]
    arguments, absence = plain_arguments(readable(known))
    if computed and absence is None:
        absence = Absence("computed_argument", ", ".join(computed))
    return PlainArguments(arguments, absence)


def _unnamed(values: Iterable[Any]) -> PlainArguments:
    """The arguments of an operator without a class: known where there are none."""
    return PlainArguments({}, Absence("unnamed_arguments") if any(True for _ in values) else None)


def _without_tensors(operands: Sequence[Value], bindings: Sequence[Binding]) -> dict[int, Value]:
    """The operands that hold no tensor, by place."""
    values = {}
    for place, (value, binding) in enumerate(zip(operands, bindings, strict=True)):
        if not _has_tensors(binding):
            values[place] = value
    return values


def _has_tensors(binding: Binding) -> bool:
    if isinstance(binding, list):
        return any(map(_has_tensors, binding))
    return binding is not None


def _is_constant(value: Value) -> bool:
    """Whether an operand is written in the program, and not computed by the net."""
    if isinstance(value, SequenceValue):
        return all(map(_is_constant, value.values))
    return isinstance(value, (Scalar, StringValue, Symbol))


def _python_value(value: Value) -> Any:
    """A constant of the IR as Python has it."""
    if isinstance(value, SequenceValue):
        return tuple(map(_python_value, value.values))
    if isinstance(value, Symbol):
        return None if value.text == "None" else value.text
    if isinstance(value, Scalar):
        return value.number
    assert isinstance(value, StringValue)
    return value.value

"""What an operator of an IR text says of its arguments; run in a worker of MindSpore."""

from explorer.engines.mindspore.ir import parse
from explorer.engines.mindspore.ir_statements import program
from explorer.engines.mindspore.operator_arguments import statement_arguments
from explorer.engines.plain_values import PlainArguments
from tests.support.worker_targets import Word


def read(word: Word) -> Word:
    """The arguments of the first statement of a text, none of whose operands is a tensor."""
    statement = next(iter(program(parse(word.text, "given.ir")).values()))[0]
    found: PlainArguments = statement_arguments(statement, [None] * len(statement.operands))
    missing = found.absence and (found.absence.kind, found.absence.detail)
    return Word(f"{found.arguments} {missing}")

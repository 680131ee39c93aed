"""Reads the IR texts (.ir files) of MindSpore's compiler into plain records."""

from explorer.engines.mindspore.ir.lines import IRSyntaxError
from explorer.engines.mindspore.ir.parser import parse, read, read_stages
from explorer.engines.mindspore.ir.records import IRNode, Module, Subgraph

__all__ = ["IRNode", "IRSyntaxError", "Module", "Subgraph", "parse", "read", "read_stages"]

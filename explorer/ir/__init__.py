"""Reads the IR texts (.ir files) of MindSpore's compiler into plain records."""

from explorer.ir.lexer import IRSyntaxError
from explorer.ir.parser import parse, read
from explorer.ir.records import IRNode, Module, Subgraph

__all__ = ["IRNode", "IRSyntaxError", "Module", "Subgraph", "parse", "read"]

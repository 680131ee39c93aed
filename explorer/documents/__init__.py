"""Gradient graphs, tables, claims and differences in documents: the same blocks for every tool.

``directives`` reads and checks what a document requests, ``contents`` runs it, and what comes
out are blocks: figures, tables, paragraphs, code. A tool (Markdown, Sphinx, MkDocs) sets them.
"""

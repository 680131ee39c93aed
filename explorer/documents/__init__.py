"""Gradient graphs, tables, claims and differences in documents: one kind of block for every tool.

``blocks`` reads and checks the blocks of a document, ``contents`` runs them, and what comes
out are plain parts: figures, tables, paragraphs, code. A tool (Markdown, Sphinx, MkDocs) sets them.
"""

"""A report's faces: terminal, JSON, Markdown, one self-contained HTML file, and the files of an
output folder.
"""

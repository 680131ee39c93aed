"""The record of a study in three formats, and the files of its output folder."""

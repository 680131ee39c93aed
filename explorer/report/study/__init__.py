"""The record of a study, set in three faces, and the files of its output folder."""

"""The main job: every case of a scenario put to every engine, judged, drawn up as graphs, and
aligned.
"""

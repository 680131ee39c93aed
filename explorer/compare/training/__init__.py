"""Two trainings beside each other: the first step at which they differ, in what, and by which rule."""

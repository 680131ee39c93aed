"""Parts that the captures of all engines share: the builder of graphs, and their checker."""

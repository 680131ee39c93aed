"""The programs that find figures: one a claim or study and finder, by the claims' topics."""

"""Why two graphs part: what is tried at a divergence, and what of it, or of the recorded values, explains it.

``suspects`` says what can be tried there, ``tried`` which trial explains it, ``related`` how one
recorded value follows from the other, and ``mends`` what to write in either net.
"""

"""Execution evidence: what a script did in prepared worlds, and how much that says. Pure.

`sandbox` runs a script confined, or says why it cannot; `cases` prepares worlds and checks what happened in
them; `quality` says what the cases would not notice. Execution never verifies a script: a failed check is a
disagreement between script and case, and a person reads it. Nothing is imported here, so that the helper
process loads no more than itself.
"""

"""Execution evidence: what a script did in prepared worlds, and how much that says. Pure.

`sandbox` runs a script confined, or says why it cannot; `cases` prepares worlds and checks the results; `quality`
measures what the cases would not notice. Execution never verifies a script: a failed check is a disagreement
between script and case, for a person to read. Nothing is imported here, so that the helper process loads only its
own modules.
"""

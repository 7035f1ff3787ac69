"""The demo model: a loopback process that speaks the Messages API, for first runs and for tests.

It is no language model. It answers the demo's own tasks from the demo's action files (`script_book`), any other task
of the pipeline by rule (`prompt_answers`): the same answer to the same request, always. `server` is the HTTP side: it
refuses what the real API refuses, logs what would have been billed and injects faults on request. `language` reads
statements and scripts, `description` says what a script does, `writing` writes and mends scripts.
Start it with `python -m pipeline.standin`.
"""

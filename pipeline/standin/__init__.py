"""The demo model: a process that serves the Messages API on loopback, for first runs and for tests.

It is not a language model. It answers the demo's own tasks from the demo's action files (`script_book`) and every other
task by rule (`prompt_answers`). The same request always gets the same answer. `server` is the HTTP side: it rejects
what the real API rejects, logs what would have been billed and injects faults on request. `language` parses statements
and scripts, `description` describes scripts, and `writing` writes and fixes them.

Start it with `python -m pipeline.standin`.
"""

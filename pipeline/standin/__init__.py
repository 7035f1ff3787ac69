"""The demo model: a loopback process that speaks the Messages API, for first runs and for tests.

It is no language model. It answers the demo's own tasks from the demo's action files (`book`), any
other task of the pipeline by rule (`answers`): the same answer to the same request, always. It
refuses what the real API refuses (`shapes`, `refusals`), logs what would have been billed (`calls`,
`usage`) and injects faults on request (`faults`).
Start it with `python -m pipeline.standin`.
"""

"""The servers that ScriptSmith starts if none is configured, and the supervisor of `make run`.

`servers.running` serves a single command, `supervisor.run` the whole product, and `layout.Layout` has all paths. Only
`__main__`, `commands`, `load`, `prepare`, `local_model` and `supervision` import Django.
"""

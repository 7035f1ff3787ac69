"""The servers ScriptSmith starts where none is configured, and the supervisor of `make run`.

`servers.running` is for one command, `supervisor.run` for the whole product, and `layout.Layout` has
all paths. Only `__main__`, `commands`, `load` and `prepare` know Django.
"""

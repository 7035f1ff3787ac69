"""The servers ScriptSmith starts where none is configured, and the supervisor of `make run`.

`servers.running` is for one command, `supervisor.run` for the whole product, `layout.Layout` says
where everything is. Only `__main__`, `commands` and `prepare` know Django.
"""

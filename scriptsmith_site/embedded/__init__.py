"""The servers that ScriptSmith starts if none is configured, and the supervisor of `make run`.

`servers.running` runs the servers for a single command, `supervisor.run` runs the whole product, and `layout.Layout`
defines all paths. Only `__main__`, `commands`, `load`, `prepare`, `local_model` and `supervision` import Django.
"""

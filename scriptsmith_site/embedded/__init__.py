"""The servers ScriptSmith starts where none is configured, and the supervisor of `make run`.

`running` is for a command, `supervisor` for the whole product. Everything here needs the standard
library and nothing else, but for `commands` and `prepare`, which are about Django.
"""

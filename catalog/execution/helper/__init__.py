"""The process beside the sandbox, standard library only: one request on stdin, one reply on stdout.

It is a separate process because a user namespace can only be created by a process with one thread, and because the
worker holds keys and connections that must not be near a script. If started by root it changes to an unused user.
It creates its namespaces, prepares the world on a file system of limited size, runs bubblewrap in it, and reads the
world after every process inside has ended. Everything it created disappears with it, however it is killed.

Its start is a third of the cost of a case: no module here imports `dataclasses`, `subprocess` or `inspect`.
"""

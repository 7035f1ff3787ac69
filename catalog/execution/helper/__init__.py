"""The process beside the sandbox, standard library only: one request on stdin, one reply on stdout.

It is a process of its own because a user namespace can only be made by a process with one thread, and because
the worker holds keys and connections that must not be anywhere near a script. It drops to an unused user where
it was started by root, makes its own namespaces, prepares the world on a file system of limited size, runs
bubblewrap in it, and reads what became of the world when every process inside has ended. All that it made
disappears with it, by whatever it is killed.

Its start is a third of what a case costs: no module here imports `dataclasses`, `subprocess` or `inspect`.
"""

"""The helper process that runs a sandbox. It reads one request from stdin and writes one reply to stdout.

The helper is a separate process because only a process with one thread can create a user namespace, and because the
worker has keys and connections that must be kept away from scripts. If root starts it, it switches to an unused user.
It creates its namespaces, builds the scenario on a file system of limited size, runs bubblewrap in it, and reads the
files after all processes inside have ended. When it ends, even if killed, the kernel removes all it created.

Its startup takes a third of a test's time, so it uses only the standard library, without `dataclasses`, `subprocess`
and `inspect`.
"""

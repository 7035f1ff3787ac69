"""The helper process that runs a sandbox. The helper reads one request from stdin and writes one reply to stdout.

The helper is a separate process because only a single-threaded process can create a user namespace. A separate process
also protects the worker's keys and connections from scripts. If root starts the helper, it switches to an unused user.
The helper creates its namespaces, builds the scenario on a file system of limited size, and runs bubblewrap. After all
processes inside have exited, the helper reads the files. When the helper exits or is killed, the kernel removes
everything that the helper created.

The helper's startup takes a third of a test's time. The helper therefore uses only the standard library, without
`dataclasses`, `subprocess` and `inspect`.
"""

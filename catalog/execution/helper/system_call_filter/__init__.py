"""The seccomp filter that applies to every process of the sandbox."""

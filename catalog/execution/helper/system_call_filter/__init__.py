"""The seccomp filter that every process of the sandbox runs under."""

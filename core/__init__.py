"""Shared code such as errors, the audit log and leased jobs. The package does not depend on product concepts."""

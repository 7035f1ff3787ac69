"""Code that all apps share, such as errors, the audit log and leased jobs. It does not depend on product concepts."""

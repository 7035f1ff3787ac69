"""Code that every app uses: errors, texts, the audit log, leased jobs. It depends on no concept of the product."""

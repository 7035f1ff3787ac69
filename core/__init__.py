"""Code that every app uses: errors, texts, the audit log, leased jobs. Nothing here depends on a concept of the
product.
"""

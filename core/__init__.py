"""What every app stands on: errors, texts, the audit log, leased jobs; nothing here knows the product's words."""

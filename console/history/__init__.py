"""What the console changed on objects: each change with what was before and after it, so that it can be
looked at and taken back. The audit trail says who did what; it holds no manifests."""

"""What is kept: the record, its bytes and id, the store, redaction. Imports nothing of ours."""

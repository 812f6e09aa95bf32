"""What every other package stands on: errors that are sentences, files that are never half written, progress."""

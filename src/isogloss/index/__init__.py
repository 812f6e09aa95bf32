"""An index on disk: documents, segments, commits; making, opening, changing, checking it."""

"""What everything rests on: files, records, limits, signals."""

"""Files that runs write: results, coverage, logs, alone or in archives."""

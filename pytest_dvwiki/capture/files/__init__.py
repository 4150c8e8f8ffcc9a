"""Files that runs leave behind: results, coverage, logs, alone or in archives."""

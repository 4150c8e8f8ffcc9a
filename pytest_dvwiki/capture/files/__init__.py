"""Files that runs write: results, coverage reports and logs, on their own or in archives."""

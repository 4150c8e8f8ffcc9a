"""The librarian: takes lessons from sessions, shortens topics, and compares claims with the code that they cite."""

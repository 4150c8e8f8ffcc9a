"""The librarian: lessons from sessions, topics made shorter, and claims compared with the code that they cite."""

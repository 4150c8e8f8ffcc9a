"""The client for language models: its protocol, its backends, and the settings of the block `librarian:`."""

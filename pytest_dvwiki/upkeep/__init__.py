"""What keeps a wiki sound: checks of its pages, its history and its derived content."""

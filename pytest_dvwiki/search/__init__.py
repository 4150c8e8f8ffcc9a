"""Finding pages by words."""

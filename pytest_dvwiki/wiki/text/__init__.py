"""Reading and editing of the text of pages, byte for byte the same in what people wrote."""

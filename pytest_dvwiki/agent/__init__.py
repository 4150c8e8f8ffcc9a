"""What agents get from the wiki."""

"""The writing of the wiki: a run is archived, or everything that follows from the records is made again."""

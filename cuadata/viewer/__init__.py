"""The static report page of a dataset, and later the local web page."""

"""The texts of the web application in each of its languages."""

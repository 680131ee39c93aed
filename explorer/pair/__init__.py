"""Two gradient graphs side by side in a browser: a record of what is shown, and what shows it.

The component is a function of the record and knows no framework of pages: the app, reports in one
file and notebooks mount the same code.
"""

"""Files of containers: list folders, download and upload through exec with the viewer's permissions.

Programs of the container are started with argument lists, never through a shell. All their output
is foreign: names are displayed escaped, and archives are passed on without being read.
"""

"""Redirects from KubeSphere's URLs to the equivalent pages, so that old bookmarks keep working.

`words` maps KubeSphere's URL segments to kinds and pages. Redirects only depend on the URL, so
they reveal nothing about objects; the target page checks permissions.
"""

"""KubeSphere's addresses lead to the page here that does the same, so that bookmarks of a cluster whose
KubeSphere is gone still work.

`words` is the table: KubeSphere's words for kinds and pages. A redirect is made of the address alone, so
that it says nothing about objects; whether somebody may see the page is decided there.
"""

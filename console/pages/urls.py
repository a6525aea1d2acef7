"""Addresses of the pages that are about more than one kind. Included at the root."""

from django.urls import path

from console.pages.palette import palette
from console.pages.search import search_page

urlpatterns = [
    path("search", search_page, name="search"),
    path("palette", palette, name="palette"),
]

"""An object's page: tabs, panels and relations to other objects."""

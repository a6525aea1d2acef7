"""Navigation: levels, menus, page frame, command palette, routes of live pages."""

"""URLs of workspaces, included at the site root."""

from django.urls import path

from console.kube.gvr import WORKSPACE_TEMPLATES
from console.ui.core.kind import segment_of
from console.views.actions import redirect_old_url
from workspaces.pages import audit, listing, members, overview, projects, settings, templates
from workspaces.quota_webhook import review_quota

# No object can be called "-", so a creation page never hides the page of an object called "new".
_HERE = "workspaces/<str:workspace>"
_DELETION = {"resource": segment_of(WORKSPACE_TEMPLATES), "action": "delete"}

urlpatterns = [
    path("admission/quota/<str:token>", review_quota, name="quota_webhook"),
    path("projects/<str:namespace>/quota", projects.quota_of, name="project_quota"),
    path("workspaces", listing.workspaces, name="workspace_list"),
    path("workspaces/-/new", listing.new, name="workspace_new"),
    path("workspaces/-/users", listing.suggest_managers, name="workspace_new_users"),
    path(_HERE, overview.overview, name="workspace"),
    path(f"{_HERE}/projects", overview.projects, name="workspace_projects"),
    path(f"{_HERE}/projects/-/new", projects.new, name="workspace_project_new"),
    path(f"{_HERE}/projects/<str:namespace>", projects.project, name="workspace_project"),
    path(f"{_HERE}/projects/<str:namespace>/quota", projects.quota, name="workspace_project_quota"),
    path(
        f"{_HERE}/projects/<str:namespace>/limits",
        projects.limits,
        name="workspace_project_limits",
    ),
    path(
        f"{_HERE}/projects/<str:namespace>/member",
        projects.member,
        name="workspace_project_member",
    ),
    path(f"{_HERE}/users", members.suggest, name="workspace_users"),
    path(f"{_HERE}/members", members.members, name="workspace_members"),
    path(f"{_HERE}/members/invite", members.invite, name="workspace_invite"),
    path(f"{_HERE}/members/<str:user>/role", members.member, name="workspace_member"),
    path(f"{_HERE}/members/<str:user>/remove", members.remove, name="workspace_member_remove"),
    path(f"{_HERE}/departments", members.departments, name="workspace_departments"),
    path(f"{_HERE}/departments/<str:group>", members.department, name="workspace_department"),
    path(
        f"{_HERE}/departments/<str:group>/delete",
        members.delete_department,
        name="workspace_department_delete",
    ),
    path(f"{_HERE}/quota", overview.quota, name="workspace_quota"),
    path(f"{_HERE}/templates", templates.templates, name="workspace_templates"),
    path(f"{_HERE}/templates/-/new", templates.new, name="workspace_template_new"),
    path(f"{_HERE}/templates/<int:number>", templates.change, name="workspace_template"),
    path(
        f"{_HERE}/templates/<int:number>/delete", templates.delete, name="workspace_template_delete"
    ),
    path("audit/records/<str:audit_id>", audit.record_page, name="audit_record"),
    path(f"{_HERE}/audit", audit.workspace_audit, name="workspace_audit"),
    path(f"{_HERE}/settings", settings.edit, name="workspace_settings"),
    path("workspaces/<str:name>/delete", redirect_old_url, _DELETION),
]

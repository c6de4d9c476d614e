"""Addresses. Seats are named by random ids, campaigns by slugs."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.i18n import set_language

from annotation.views import annotate, campaigns, health


class VersionConverter(StringConverter):
    """What a release can be called; nothing else is looked for."""

    regex = "[0-9A-Za-z][0-9A-Za-z.+-]*"


register_converter(VersionConverter, "version")

urlpatterns = [
    path("", campaigns.home, name="home"),
    path("healthz", health.healthz, name="healthz"),
    path(
        "accounts/login/",
        auth.LoginView.as_view(
            template_name="accounts/login.html", redirect_authenticated_user=True
        ),
        name="login",
    ),
    # Also for those whose session has ended: signing in again would lead to an address for posts.
    path("accounts/logout/", login_not_required(auth.LogoutView.as_view()), name="logout"),
    # Also for those who have not signed in: they read the login page.
    path("i18n/setlang/", login_not_required(set_language), name="set_language"),
    path("campaigns/<slug:slug>/", campaigns.campaign, name="campaign"),
    path("campaigns/<slug:slug>/state/", campaigns.move, name="move"),
    path("campaigns/<slug:slug>/aggregate/", campaigns.aggregate, name="aggregate"),
    path("campaigns/<slug:slug>/runs/<int:run_id>/", campaigns.run, name="run"),
    path("campaigns/<slug:slug>/releases/", campaigns.release, name="release"),
    path(
        "campaigns/<slug:slug>/releases/<version:version>/download/",
        campaigns.download,
        name="download",
    ),
    path("campaigns/<slug:slug>/guidelines/", annotate.guidelines, name="guidelines"),
    path("campaigns/<slug:slug>/task/", annotate.task, name="task"),
    path("seats/<uuid:seat_id>/", annotate.submit, name="submit"),
    path("seats/<uuid:seat_id>/renew/", annotate.renew, name="renew"),
]

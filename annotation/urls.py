"""Addresses. Seats are named by random ids, campaigns by slugs."""

from django.contrib.auth import views as auth
from django.urls import include, path

from annotation.views import annotate, campaigns, health

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
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("campaigns/<slug:slug>/", campaigns.campaign, name="campaign"),
    path("campaigns/<slug:slug>/state/", campaigns.move, name="move"),
    path("campaigns/<slug:slug>/aggregate/", campaigns.aggregate, name="aggregate"),
    path("campaigns/<slug:slug>/runs/<int:run_id>/", campaigns.run, name="run"),
    path("campaigns/<slug:slug>/releases/", campaigns.release, name="release"),
    path(
        "campaigns/<slug:slug>/releases/<str:version>/download/",
        campaigns.download,
        name="download",
    ),
    path("campaigns/<slug:slug>/guidelines/", annotate.guidelines, name="guidelines"),
    path("campaigns/<slug:slug>/task/", annotate.task, name="task"),
    path("seats/<uuid:seat_id>/", annotate.submit, name="submit"),
    path("seats/<uuid:seat_id>/renew/", annotate.renew, name="renew"),
]

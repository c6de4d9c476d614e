"""Addresses. Seats are named by random ids, campaigns by slugs."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import path, register_converter
from django.urls.converters import StringConverter

from annotation.views import (
    accounts,
    annotate,
    audit,
    campaigns,
    health,
    joining,
    own,
    pairs,
    people,
    raters,
)


class VersionConverter(StringConverter):
    """What a release can be called; nothing else is looked for."""

    regex = "[0-9A-Za-z][0-9A-Za-z.+-]*"


register_converter(VersionConverter, "version")

handler400 = "annotation.views.errors.bad_request"
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
    path("accounts/password/", accounts.PasswordView.as_view(), name="password"),
    path("i18n/setlang/", accounts.set_language, name="set_language"),
    path("campaigns/<slug:slug>/", campaigns.campaign, name="campaign"),
    path("campaigns/<slug:slug>/state/", campaigns.move, name="move"),
    path("campaigns/<slug:slug>/aggregate/", campaigns.aggregate, name="aggregate"),
    path("campaigns/<slug:slug>/audit/", audit.audit, name="audit"),
    path("campaigns/<slug:slug>/policies/", audit.policies, name="policies"),
    path("campaigns/<slug:slug>/runs/<int:run_id>/", audit.run, name="run"),
    path("campaigns/<slug:slug>/runs/<int:run_id>/tiers/", audit.tiers, name="run_tiers"),
    path("campaigns/<slug:slug>/runs/<int:run_id>/quality/", audit.quality, name="run_quality"),
    path("campaigns/<slug:slug>/runs/<int:run_id>/analyse/", audit.analyse, name="analyse"),
    path(
        "campaigns/<slug:slug>/runs/<int:run_id>/tables/<slug:name>.<str:format>",
        audit.table,
        name="run_table",
    ),
    path("campaigns/<slug:slug>/runs/<int:run_id>/raters/", raters.raters, name="run_raters"),
    path(
        "campaigns/<slug:slug>/runs/<int:run_id>/raters/<int:rater_id>/",
        raters.rater,
        name="run_rater",
    ),
    path(
        "campaigns/<slug:slug>/runs/<int:run_id>/breakdowns/",
        raters.breakdowns,
        name="run_breakdowns",
    ),
    path("campaigns/<slug:slug>/runs/<int:run_id>/biases/", raters.biases, name="run_biases"),
    path("campaigns/<slug:slug>/runs/<int:run_id>/pairs/", pairs.pairs, name="run_pairs"),
    path(
        "campaigns/<slug:slug>/runs/<int:run_id>/pairs/<int:pair_id>/", pairs.pair, name="run_pair"
    ),
    path("campaigns/<slug:slug>/runs/<int:run_id>/compare/", pairs.compare, name="run_compare"),
    path(
        "campaigns/<slug:slug>/raters/<int:rater_id>/exclusion/",
        raters.exclude_rater,
        name="exclude_rater",
    ),
    path(
        "campaigns/<slug:slug>/raters/<int:rater_id>/pairs/<int:pair_id>/exclusion/",
        raters.exclude_judgement,
        name="exclude_judgement",
    ),
    path(
        "campaigns/<slug:slug>/exclusions/<int:exclusion_id>/lift/",
        raters.lift_exclusion,
        name="lift_exclusion",
    ),
    path("campaigns/<slug:slug>/adjudication/", pairs.adjudication, name="adjudication"),
    path("campaigns/<slug:slug>/adjudication/<int:pair_id>/", pairs.adjudicate, name="adjudicate"),
    path(
        "campaigns/<slug:slug>/adjudications/<int:adjudication_id>/revoke/",
        pairs.revoke_adjudication,
        name="revoke_adjudication",
    ),
    path("campaigns/<slug:slug>/releases/", campaigns.release, name="release"),
    path(
        "campaigns/<slug:slug>/releases/<version:version>/download/",
        campaigns.download,
        name="download",
    ),
    path("join/<uuid:invite_id>/", joining.join, name="join"),
    path("crowd/<uuid:study_id>/", joining.crowd, name="crowd"),
    path("campaigns/<slug:slug>/leave/", joining.leave, name="leave"),
    path("campaigns/<slug:slug>/people/", people.people, name="people"),
    path(
        "campaigns/<slug:slug>/people/<int:member_id>/standing/", people.standing, name="standing"
    ),
    path("campaigns/<slug:slug>/invites/", people.invite, name="invite"),
    path("campaigns/<slug:slug>/invites/<uuid:invite_id>/revoke/", people.revoke, name="revoke"),
    path("campaigns/<slug:slug>/studies/", people.study, name="study"),
    path(
        "campaigns/<slug:slug>/studies/<uuid:study_id>/close/",
        people.close_study,
        name="close_study",
    ),
    path(
        "campaigns/<slug:slug>/flags/<int:flag_id>/resolve/",
        people.resolve_flag,
        name="resolve_flag",
    ),
    path("campaigns/<slug:slug>/settings/", people.settings, name="judging_settings"),
    path("campaigns/<slug:slug>/guidelines/", annotate.guidelines, name="guidelines"),
    path("campaigns/<slug:slug>/task/", annotate.task, name="task"),
    path("campaigns/<slug:slug>/me/", own.own, name="own"),
    path("campaigns/<slug:slug>/history/", own.history, name="history"),
    path("seats/<uuid:seat_id>/", annotate.submit, name="submit"),
    path("seats/<uuid:seat_id>/renew/", annotate.renew, name="renew"),
    path("seats/<uuid:seat_id>/ahead/", annotate.ahead, name="ahead"),
    path("seats/<uuid:seat_id>/flags/", annotate.flag, name="flag"),
]

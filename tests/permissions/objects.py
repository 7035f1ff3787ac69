"""Rows of every kind that an address names: the user's own, another user's, and those without an owner.

Every user has their own action, run, use, token and claimed item, in every role. A role may be revoked later,
and having created a row must not bypass that.

  item held       in the review queue, claimed by the user              item free      available to the next reviewer
  item member     of a study with all users as members                  item stranger  of a study without this user
  ... own         the user's own                                        ... other      another user's
"""

from __future__ import annotations

import re
from datetime import timedelta

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.utils import timezone

from catalog.evidence import services as evidence
from catalog.models import (
    Entry,
    EvidenceChange,
    Execution,
    Job,
    MatchLabel,
    Merge,
    NearDuplicate,
    OutcomeReport,
    Phrasing,
    Recheck,
    SavedView,
    Tag,
    ToolRule,
    Use,
    Version,
)
from core.kept_files import new_name
from pipeline import services as pipeline
from pipeline.models import Action, Configuration, Endpoint, Price, Run, Shortening
from review import services as review
from review.exchange.transfer_files import kept_files
from review.models import Assignment, Decision, Flag, Item, Remark, Transfer
from review.report.snapshots import take_snapshot
from scriptsmith_site.integrations.outbox.transport.sealing import seal
from scriptsmith_site.models import (
    AlertKey,
    AlertRule,
    AlertSource,
    ChatCommand,
    Delivery,
    Destination,
    Door,
    Event,
    GuessCount,
    Incident,
    IncidentEvent,
    MirrorBranch,
    Notification,
    OneTimeLink,
    Session,
)
from scriptsmith_site.people.sign_in.links import make_password_link
from scriptsmith_site.people.sign_in.own_sessions import mark_of
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.catalog.evidence.conftest import cases_text
from tests.keys import shown
from tests.make import make_run, make_version
from tests.people import make_person
from tests.permissions.matrix import ROLES, SCOPES, SIGNED_IN
from tests.review.maker import make_study

EVERY_ROLE = "everyone"  # the user for token tests, who has all roles


class Everything:
    """Users of every role and objects of every kind. Implements `matrix.Objects`."""

    def __init__(self) -> None:
        self.people: dict[str, User] = {}
        for name in SIGNED_IN:
            self.people[name] = make_person(f"p-{name}", *([name] if name in ROLES else []))
        self.people[EVERY_ROLE] = make_person("p-everyone", *ROLES)
        self.other = make_person("p-other", *ROLES)
        self._keys: dict[tuple[str, str], dict[str, object]] = {}
        self._make_review()
        self._make_catalogue()
        self._make_models()
        self._make_site()
        self._make_alerts()
        self._make_commands()
        for name, person in self.people.items():
            self._make_own(name, person)
        self._make_own("", self.other)

    def keys(self, object: str, person: str) -> dict[str, object]:
        """Return the keys in this object's address for the user. Objects of `other` are the same for all users."""
        if object.startswith("admin:"):
            return self._admin_keys(object.removeprefix("admin:"))
        kind, _space, whose = object.partition(" ")
        if whose == "other":
            found = self._keys[f"{kind} own", ""]
        else:
            found = self._keys.get((object, person)) or self._keys[object, ""]
        return found

    def _put(self, object: str, key: object, /, person: str = "", **more: object) -> None:
        self._keys[object, person] = {"": key, **more}

    def _admin_keys(self, name: str) -> dict[str, object]:
        """Return the URL parameters for an address of the admin, with the first row of its model."""
        found = re.match(r"(auth|auditlog|catalog|pipeline)_([a-z]+)_", name)
        row = apps.get_model(found[1], found[2]).objects.first() if found else None
        user = ContentType.objects.get_for_model(User)
        return {
            "": row.pk if row else 1,
            "app_label": "catalog",
            "content_type_id": user.pk,
            "url": "",
        }

    def _live_item(self, statement: str) -> Item:
        run = make_run(
            statement=statement, by=self.other, script=f"#!/usr/bin/env bash\necho '{statement}'\n"
        )
        item = review.take_in(run.pk)
        assert item is not None
        return item

    def _make_review(self) -> None:
        everybody = list(self.people.values())
        study = make_study(
            by=self.other, reviewers=[*everybody, self.other], items=2, overlap=9, name="All"
        )
        foreign = make_study(
            by=self.other, reviewers=[self.other], items=2, overlap=3, name="Others"
        )
        free = self._live_item("Show the free memory")
        assert free.run is not None
        member, strange = study.items.order_by("pk")[0], foreign.items.order_by("pk")[0]
        self._put("item free", shown(free))
        self._put("item member", shown(member))
        self._put("item stranger", shown(strange))
        self._put("study member", study.pk)
        self._put("study stranger", foreign.pk)
        self._put("campaign", foreign.pk)
        self._put("campaign item", foreign.pk, item=strange.pk)
        self._put("member", foreign.pk, member=foreign.members.get().pk)
        self._put("stage", foreign.pk, stage="script")
        self._put("step", foreign.pk, step="about")
        self._put("upload", foreign.pk, word="none")
        snapshot = take_snapshot(foreign, name="Kept", by=self.other)
        self._put("snapshot", foreign.pk, snapshot=snapshot.pk)
        self._keys["snapshot", ""] |= {"id": snapshot.pk}
        self._put("table", foreign.pk, table="figures", ending="csv")
        self._put("live table", "", table="execution-accuracy", ending="csv")
        self._put("snapshot table", foreign.pk, snapshot=snapshot.pk, table="figures", ending="md")
        kept = new_name()
        with kept_files.writing(kept) as file:
            file.write(b"{}")
        transfer = Transfer.objects.create(
            campaign=foreign,
            kind="export",
            state="done",
            filename="out.jsonl",
            format="jsonl",
            path=kept,
            by=self.other,
            ended_at=timezone.now(),
            expires_at=timezone.now() + timedelta(hours=1),
        )
        self._put("transfer", transfer.pk)
        taken = review.claim_item(strange, by=self.other)
        self._put("assignment", shown(strange), assignment=taken.pk, id=taken.pk)
        drafts = strange.run.drafts.order_by("pk") if strange.run else ()
        remark = Remark.objects.create(
            item=strange, by=self.other, draft=drafts[0], line=1, text="Hm"
        )
        self._put("remark stranger", shown(strange), remark=remark.pk)
        self._put("flag", Flag.objects.create(item=strange, by=self.other, reason="Odd").pk)
        decided = self._live_item("Show the load")
        draft = decided.run.drafts.get() if decided.run else None
        assert draft is not None
        decision = Decision.objects.create(
            item=decided,
            draft=draft,
            draft_sha256=draft.sha256,
            kind="reject",
            by=self.other,
            reason="No",
        )
        self._put("decision", decision.pk)
        # All users can see runs with a decision.
        Item.objects.filter(pk=decided.pk).update(state=Item.State.CLOSED, closed_at=timezone.now())
        self._put("run decided", decided.run_id)
        self._put("draft", shown(draft))
        self._put("run", free.run.pk)

    def _make_catalogue(self) -> None:
        verified = make_version("Show old exports", by=self.other)
        second = make_version("Show older exports", script="echo two\n", by=self.other)
        merged = make_version("Show the oldest exports", script="echo three\n", by=self.other)
        draft = Version.objects.create(
            entry=second.entry,
            number=2,
            state=Version.State.DRAFT,
            script="echo draft\n",
            sha256=Version.hash_of("echo draft\n"),
            author=self.other,
        )
        self._put("entry", verified.entry.slug)
        self._put("entry number", verified.entry_id)
        self._put("version", draft.pk)
        self._put("version verified", verified.pk)
        self._put("version unverified", draft.pk)
        phrasing = Phrasing.objects.create(entry=verified.entry, text="List exports that are old")
        self._put("phrasing", phrasing.pk)
        pair = NearDuplicate.objects.create(first=verified.entry, second=second.entry, likeness=0.9)
        self._put("duplicate", pair.pk)
        finding = Recheck.objects.create(
            version=verified,
            checked_with="new",
            risk="low",
            side_effect="read_only",
            has_changed=True,
        )
        self._put("finding", finding.pk)
        rule = ToolRule.objects.create(name="deployctl", effect="unknown", by=self.other)
        self._put("tool", rule.pk)
        report = OutcomeReport.objects.create(
            version=verified, by=self.other, token="pipeline", outcome="worse", incident="INC-7"
        )
        self._put("outcome-report", report.pk)
        self._put("entry runner", verified.entry.slug, runner="ansible")
        kept = evidence.add_cases(verified.entry, cases_text(), by=self.other)
        self._put("cases", kept.pk)
        self._put("entry cases", verified.entry.slug, number=kept.pk)
        ran = Execution.objects.create(
            script_sha256=verified.sha256, case_set=kept.case_set, state="passed"
        )
        self._put("execution", ran.pk)
        self._put(
            "evidence",
            EvidenceChange.objects.create(
                entry=verified.entry, version=verified, before=ran, after=ran
            ).pk,
        )
        merge = Merge.objects.create(source=merged.entry, target=verified.entry, by=self.other)
        Entry.objects.filter(pk=merged.entry_id).update(merged_into=verified.entry)
        self._put("merge", merge.pk)
        job = Job.objects.create(
            kind=Job.Kind.IMPORT, filename="in.jsonl", arguments={"dry_run": True}, by=self.other
        )
        self._put("import", job.pk)
        Tag.objects.create(name="disk")

    def _make_models(self) -> None:
        endpoint = Endpoint.objects.get(name="demo")
        price = Price.objects.create(
            endpoint=endpoint, model="demo-smith", since=timezone.now().date()
        )
        self._put("endpoint", endpoint.name)
        self._put("price", price.pk, name=endpoint.name, id=price.pk)
        self._put("configuration", "demo")
        self._put("prompt", "describe")
        demo = Action.objects.create(statement="Try me", source=Action.Source.DEMO)
        self._put("action demo", demo.pk)

    def _make_site(self) -> None:
        self._put("guide", "reviewing")
        self._put("picture", "desk-decide-dark")
        self._put("user", make_person("p-somebody").pk)
        lockout = GuessCount.objects.create(
            kind=GuessCount.Kind.SIGN_IN_ADDRESS, key="192.0.2.7", count=99
        )
        self._put("lockout", lockout.pk)
        self._put("link", make_password_link(make_person("p-new"), by=None))
        assert OneTimeLink.objects.exists()
        Door.objects.create(name="single sign-on", paused_at=timezone.now())
        self._make_destination()
        branch = MirrorBranch.objects.create(branch="since", by=self.other, state="failed")
        self._put("mirror-branch", branch.pk)

    def _make_destination(self) -> None:
        self._put("destination-kind", "webhook")
        self._put("secret", "unknown")
        made = Destination.objects.create(
            name="pager", address="https://hooks.example.org/in", types=["run.finished"],
            owner=self.other, secret=seal("whsec_c2VjcmV0"),
        )  # fmt: skip
        self._put("destination", made.pk)
        event = Event.objects.create(
            type="run.finished", model="pipeline.run", object_id=1, leaves=True, subject="run:1"
        )
        delivery = Delivery.objects.create(
            destination=made,
            event=event,
            sequence=1,
            subject="run:1",
            state=Delivery.State.DELIVERED,
        )
        self._put("delivery", delivery.pk)

    def _make_commands(self) -> None:
        command = ChatCommand.objects.create(kind="slack", name="Ours")
        paused = ChatCommand.objects.create(kind="slack", name="Paused", paused_at=timezone.now())
        self._put("command", command.pk)
        self._put("command kind", "mattermost")
        self._put("command paused", paused.pk)

    def _make_alerts(self) -> None:
        source = AlertSource.objects.create(kind="instana", name="Ours")
        key = AlertKey.objects.create(source=source, sha256="0" * 64, prefix="0000")
        paused = AlertSource.objects.create(kind="instana", name="P", paused_at=timezone.now())
        incident = Incident.objects.create(source=source, group="g", title="Old exports")
        version = Version.objects.filter(state=Version.State.VERIFIED).earliest("pk")
        account = make_person("p-robot", "reviewer")
        rule = AlertRule.objects.create(
            name="R", configuration=Configuration.objects.get(name="demo"), account=account
        )
        self._put("alerts", source.pk, kind="instana")
        self._put("alerts path", source.pk, kind="instana", token="wrong")
        self._put("alerts kind", "generic")
        self._put("alerts key", source.pk, key=key.pk)
        self._put("alerts paused", paused.pk)
        self._put("alert rule", rule.pk)
        self._put("incident", incident.pk)
        self._put("incident version", incident.pk, version=version.pk)
        self._incident = incident

    def _make_own(self, name: str, person: User) -> None:
        action = pipeline.ask(f"Show the uptime of {person.username}", by=person)
        run = pipeline.start_run(action, by=person, origin=Run.Origin.ASKED, enqueue=False)
        self._put("action own", action.pk, name)
        self._put("run own", run.pk, name)
        held = self._live_item(f"Show the disks of {person.username}")
        Assignment.objects.create(
            item=held, reviewer=person, lease_until=timezone.now() + timedelta(hours=1)
        )
        Item.objects.filter(pk=held.pk).update(places=0)
        self._put("item held", shown(held), name)
        draft = held.run.drafts.get() if held.run else None
        assert draft is not None
        remark = Remark.objects.create(item=held, by=person, draft=draft, line=1, text="Hm")
        self._put("remark own", shown(held), name, remark=remark.pk)
        shortening = Shortening.objects.create(
            run=draft.run, number=1, draft=draft, text="long", asked_by=person
        )
        self._put("shortening own", shown(held), name, shortening=shortening.pk)
        version = Version.objects.filter(state=Version.State.VERIFIED).earliest("pk")
        use = Use.objects.create(version=version, by=person)
        self._put("use own", use.pk, name)
        IncidentEvent.objects.create(incident=self._incident, kind="copied", by=person, use=use)
        self._put("incident use", self._incident.pk, name, use=use.pk)
        view = SavedView.objects.create(user=person, name="Risky", query="risk=high")
        self._put("view own", view.pk, name)
        label = MatchLabel.objects.create(
            statement="Show exports", version=version, label="match", by=person, picked="random"
        )
        self._put("label own", label.pk, name)
        made = make_token(person, name="own", scopes=SCOPES, days=1, by=person)
        self._put("token own", made.token.pk, name)
        factor = Authenticator.objects.create(
            user=person, type="totp", data={"secret": "of nobody's app"}
        )
        self._put("factor own", factor.pk, name)
        session = Session.objects.create(
            session_key=f"of-{person.pk}",
            user=person,
            started_at=timezone.now(),
            expire_date=timezone.now() + timedelta(hours=1),
        )
        self._put("session own", mark_of(session), name)
        told = Notification.objects.create(
            person=person, kind="verified", model="catalog.version", object_id=version.pk
        )
        self._put("notification own", told.pk, name)

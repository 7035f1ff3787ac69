"""Tests for signing in with the keyboard: with a virtual passkey, an authenticator app and an identity provider."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.axe import problems_of
from tests.browser.pictures import take
from tests.site.sign_in.codes import code_of
from tests.site_process import PASSWORD, Site

_FORGET = """
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
Authenticator.objects.all().delete()
SocialAccount.objects.all().delete()
"""


@pytest.fixture
def named(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """Return a profile at http://localhost, because browsers create passkeys only for host names."""
    url = site.url.replace("127.0.0.1", "localhost")
    context = browser.new_context(
        base_url=url, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    )
    yield context
    context.close()
    site.run(_FORGET)


def _sign_in(page: Page, name: str) -> None:
    page.goto("/login/")
    expect(page.get_by_label("Username")).to_be_focused()  # earlier key presses are lost
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    expect(page.get_by_label("Password")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.rstrip("/").endswith("/login") is False)


def _sign_out(page: Page) -> None:
    page.context.clear_cookies()


def test_a_passkey_is_made_and_used_alone_and_after_the_password(named: BrowserContext) -> None:
    page = named.new_page()
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    chromium = named.new_cdp_session(page)
    chromium.send("WebAuthn.enable")
    chromium.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    _sign_in(page, "rita")
    page.goto("/settings/second-factor/")
    assert problems_of(page) == []
    page.get_by_role("link", name="Add a passkey").focus()
    page.keyboard.press("Enter")
    name = page.get_by_label("Name")
    expect(name).to_be_visible()
    assert problems_of(page) == []
    name.focus()
    page.keyboard.type("laptop")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    assert problems_of(page) == []
    page.goto("/settings/second-factor/")
    expect(page.get_by_role("cell", name="laptop")).to_be_visible()
    assert problems_of(page) == []
    take(page, "second-factor", narrow=True, whole=True)

    _sign_out(page)
    page.goto("/login/?next=/settings/keys/")
    take(page, "sign-in", narrow=True)
    assert problems_of(page) == []
    page.get_by_role("button", name="Sign in with a passkey").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: urlsplit(url).path == "/settings/keys/")

    _sign_out(page)
    _sign_in(page, "rita")
    expect(page.get_by_role("button", name="Use a passkey")).to_be_visible()
    assert problems_of(page) == []
    page.get_by_role("button", name="Use a passkey").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: urlsplit(url).path == "/")

    page.goto("/settings/sessions/")
    expect(page.get_by_text("password, passkey")).to_be_visible()
    expect(page.get_by_role("button", name="End session").first).to_be_visible()
    assert problems_of(page) == []
    take(page, "sessions", narrow=True, whole=True)
    page.get_by_role("button", name="End all other sessions").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="End session")).to_have_count(0)
    assert errors == []


@pytest.mark.nightly
def test_an_app_is_added_by_keys_and_its_code_asked_for(named: BrowserContext) -> None:
    page = named.new_page()
    _sign_in(page, "carla")
    page.goto("/settings/second-factor/app/")
    expect(page.get_by_label("Code")).to_be_focused()
    assert problems_of(page) == []
    assert page.locator("img.qr").evaluate("image => image.naturalWidth") > 0, "the policy shows it"
    secret = page.locator("#app-secret").inner_text().replace(" ", "")
    page.keyboard.type(code_of(secret, later=-1))
    page.keyboard.press("Enter")
    codes = page.locator("#codes")
    expect(codes).to_be_visible()
    assert len(re.findall(r"\d{5} \d{5}", codes.inner_text())) == 10
    assert problems_of(page) == []

    _sign_out(page)
    _sign_in(page, "carla")
    expect(page.get_by_label("Code")).to_be_focused()
    page.keyboard.type("000000")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This code is wrong or was already used.")).to_be_visible()
    assert problems_of(page) == []
    page.get_by_label("Code").fill(code_of(secret))
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: urlsplit(url).path == "/")


def test_a_person_comes_by_the_provider_and_an_administrator_sees_how_it_is(
    site: Site, named: BrowserContext, sign_in: Callable[..., Page]
) -> None:
    pytest.importorskip("oidc_provider_mock", reason="oidc-provider-mock is not installed")
    provider_module = import_module("tests.site.sign_in.provider")

    issuer = site.environment["SCRIPTSMITH_OIDC_ISSUER"]
    with provider_module.Provider(urlsplit(issuer).port) as provider:
        provider.knows(
            "nina", preferred_username="nina", name="Nina N.", groups=["operations", "sre"]
        )
        page = named.new_page()
        page.goto("/login/")
        page.get_by_role("button", name="Sign in with Corporate ID").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{issuer}/**")
        page.locator("input[name=sub]").fill("nina")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: urlsplit(url).path == "/" and not url.startswith(issuer))
        page.goto("/settings/")
        expect(page.get_by_text("you are signed in as nina")).to_be_visible()

        provider.knows("olga", preferred_username="olga", groups=["sales"])
        _sign_out(page)
        page.goto("/login/")
        page.get_by_role("button", name="Sign in with Corporate ID").click()
        page.wait_for_url(f"{issuer}/**")
        page.locator("input[name=sub]").fill("olga")
        page.keyboard.press("Enter")
        expect(page.get_by_text("None of your groups may use ScriptSmith")).to_be_visible()
        assert problems_of(page) == []

        admin = sign_in("adam")
        admin.goto("/integrations/single-sign-on/")
        admin.get_by_role("button", name="Test now").focus()
        admin.keyboard.press("Enter")
        expect(admin.locator("#test").get_by_text("works")).to_have_count(2)
        assert problems_of(admin) == []
        take(admin, "single-sign-on", narrow=True, whole=True)

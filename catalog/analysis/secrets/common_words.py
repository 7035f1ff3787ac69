"""Words that go on after *password* where none is told, in English, German, French and Spanish."""

from __future__ import annotations

_WORDS = """
about above access after again against aging alone also always and any are authentication because been before being
below between both but can cannot change changed changes check complexity could credentials database default dialog
does done during each either empty entered entry expired expires expiration expiry failed fails field fields file
files first form from given has hash hashes have hello history host hostname here how however if incorrect input
inside instead into invalid is it its itself just key keys known later leaked length less like line lines login
logins manager managers matches may might missing must name nearby need needed needs never next none not now ok old
once one only or other otherwise over parameter per please policies policy prompt prompts protected protection
quality read reset resets right root rotation rules same saved secret set sets shall should since some soon stays
still store stored string such than that the their them then there these they this those through time token twice
under unless until user username using value variable vault very via was way well were what when where which while
who will with within without works would wrong yes you your
abgelaufen aktuell auf aus beim bitte darf das dass dem den der des die eingeben einer eines falsch falsches
funktioniert gilt haben hat ist kann liegt mehr mit muss nach nicht noch nur oben oder schon sein sich sind soll
steht und ungültig unten vom von war wie wird wurde zum zur zurück
avec dans des doit est être expiré incorrect invalide mais ont par pas pour que qui sans sera sont sur une vous
caducada como con debe del desde donde ella está estas este esto expirada incorrecta incorrectas incorrecto
incorrectos para pero por porque puede que será sin son sus también tiene una unas
"""
COMMON_WORDS = frozenset(_WORDS.split())

_PARTS = """
agent auth auto backed based case check coded driven fill filling free generated generator grant guessing hard human
in less link machine multi non off open out plain policies protected re readable self sensitive service sign source
spray spraying storage store stuffing style sync text typed up wide world
"""
PARTS_OF_COMPOUNDS = frozenset(_PARTS.split())
"""Of words that go on about passwords: *password auto-fill*, *password self-service*."""

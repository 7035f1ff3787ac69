import pytest
from tests.catalog.shelf import *
pytestmark = pytest.mark.django_db

def test_pages(curator, client_for, settings):
    v = shelve(script=SCRIPT, parameters=[DIRECTORY])
    c = client_for(curator)
    for url in ["/catalogue/", "/catalogue/?q=old+files", f"/catalogue/{v.entry.slug}/", f"/catalogue/{v.entry.slug}/history/", "/catalogue/new/", f"/catalogue/versions/{v.pk}/edit/", "/api/v1/entries/", f"/api/v1/entries/{v.entry.slug}/", f"/api/v1/versions/{v.pk}/", "/api/v1/tags/"]:
        r = c.get(url)
        print(url, r.status_code, len(r.content))
        assert r.status_code == 200, r.content[:500]
        open("/tmp/ss/cat_"+url.strip("/").replace("/","_").replace("?","_")+".html","wb").write(r.content)

"""Tests for the Helm chart that need no cluster."""

from __future__ import annotations

import kubernetes_validate
import pytest

from tests.site.deployment.deploying import CHART, PLACES, documents, pods, settable

KUBERNETES = "1.34"
ALL = {
    "endpoints": "claude",
    "modelSecretName": "models",
    "doorsSecretName": "doors",
    "files": {"claimName": "shared"},
    "settings": {"SCRIPTSMITH_LOG_LEVEL": "INFO"},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecretName": "tls"},
    "image": {"pullSecrets": [{"name": "registry"}]},
}


def test_the_chart_is_sound() -> None:
    helm = pytest.importorskip("helm_python", reason="helm-python-sdk has no build for this Python")
    given = {"host": "scripts.example.org", "networkPolicy": PLACES}
    said = helm.lint(str(CHART), given, strict=True)
    assert not [one for one in said["messages"] if one["severity"] not in ("INFO", 1)], said


@pytest.mark.slow
@pytest.mark.parametrize("values", [{}, ALL], ids=["as it comes", "with everything"])
def test_every_manifest_is_one_of_kubernetes(values: dict[str, object]) -> None:
    made = documents(**values)
    for document in made:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    kinds = [document["kind"] for document in made]
    assert kinds.count("Deployment") == 4
    assert {"Job", "Service", "PodDisruptionBudget", "NetworkPolicy"} < set(kinds)
    assert ("Ingress" in kinds) == bool(values)


def test_a_host_is_wanted() -> None:
    with pytest.raises(Exception, match="the name that people type"):
        documents(host="")


def test_every_pod_may_do_little() -> None:
    for name, pod in pods(documents(**ALL)).items():
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["automountServiceAccountToken"] is False, name
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            allowed = container["securityContext"]
            assert allowed["readOnlyRootFilesystem"], name
            assert allowed["capabilities"] == {"drop": ["ALL"]}, name
            assert not allowed["allowPrivilegeEscalation"], name


def test_keys_of_models_go_to_workers_alone_and_the_runner_is_apart() -> None:
    made = documents(**ALL)
    told = {
        name: [source["secretRef"]["name"] for source in pod["containers"][0]["envFrom"]]
        for name, pod in pods(made).items()
    }
    assert [name for name, names in told.items() if "models" in names] == ["worker"]
    assert {name for name, names in told.items() if "doors" in names} == {
        "migrate-1",
        "web",
        "worker",
    }
    assert pods(made)["runner"]["runtimeClassName"] == "gvisor"


def test_the_runner_reaches_names_database_and_broker_by_place_and_port() -> None:
    (egress,) = [
        document["spec"]["egress"]
        for document in documents(**ALL)
        if document["kind"] == "NetworkPolicy" and "Egress" in document["spec"]["policyTypes"]
    ]
    assert [(rule["to"], {port["port"] for port in rule["ports"]}) for rule in egress[1:]] == [
        (PLACES["databaseTo"], {5432}),
        (PLACES["brokerTo"], {6379}),
    ]
    (names,) = egress[0]["to"]
    assert "kube-system" in str(names) and {port["port"] for port in egress[0]["ports"]} == {53}


def test_place_that_is_not_named_is_not_everywhere() -> None:
    for name in ("databaseTo", "brokerTo", "namesTo"):
        with pytest.raises(Exception, match=f"networkPolicy.{name}"):
            documents(networkPolicy={**PLACES, name: []})
    documents(networkPolicy={"enabled": False})


@pytest.mark.slow
def test_every_setting_can_be_set_in_the_chart_once() -> None:
    wanted = {name: f"told-{name.lower()}" for name in settable()}
    for name, pod in pods(documents(**{**ALL, "settings": wanted})).items():
        told = [(one["name"], one["value"]) for one in pod["containers"][0]["env"]]
        assert len(dict(told)) == len(told), f"{name} is told something twice"
        assert wanted.items() <= dict(told).items(), name
    # An empty variable would override one with the same name in a Secret.
    for name, pod in pods(documents()).items():
        assert all(one["value"] for one in pod["containers"][0]["env"]), name


def test_every_pod_that_serves_no_pages_has_probes() -> None:
    made = pods(documents())
    for name, check in (("worker", ""), ("scheduler", " scheduler"), ("runner", " runner")):
        container = made[name]["containers"][0]
        for probe in ("startupProbe", "livenessProbe"):
            command = " ".join(container[probe]["exec"]["command"])
            assert command == f"python -I scriptsmith_site/embedded/worker_healthcheck.py{check}"


def test_what_workers_and_runners_count_is_scraped() -> None:
    made = documents()
    for part in ("worker", "runner"):
        (template,) = [
            document["spec"]["template"]
            for document in made
            if document["kind"] == "Deployment" and document["metadata"]["name"].endswith(part)
        ]
        container = template["spec"]["containers"][0]
        assert container["ports"] == [{"name": "metrics", "containerPort": 9464}]
        told = {one["name"]: one["value"] for one in container["env"]}
        assert told["SCRIPTSMITH_WORKER_METRICS"] == "0.0.0.0:9464"
        noted = template["metadata"]["annotations"]
        assert (noted["prometheus.io/port"], noted["prometheus.io/path"]) == ("9464", "/metrics")
    (door,) = [one for one in made if one["metadata"]["name"].endswith("-metrics")]
    (rule,) = door["spec"]["ingress"]
    assert rule["from"] and rule["ports"] == [{"port": "metrics", "protocol": "TCP"}]
    without = documents(workerMetrics={"enabled": False})
    assert not any("metrics" in str(one).lower() for one in without)

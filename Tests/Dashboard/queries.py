"""What the dashboard and the alerts ask, what docs/metrics.md has, and a Prometheus to ask."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "deploy/grafana-dashboard.json"
ALERTS = ROOT / "deploy/prometheus-alerts.yml"
SELECTOR = re.compile(r'\b((?:liverelay|process)_[a-z_]+|up)\b(\{[^}]*\})?')
HISTOGRAM = "liverelay_http_request_duration_seconds"
# What Prometheus adds, and the label of a histogram's buckets.
COMMON_LABELS = {"job", "instance", "le"}


def fill(expression, rate_interval="30s", job="liverelay"):
    """An expression with the values of Grafana's variables."""
    for name, value in {"$__rate_interval": rate_interval, "$job": job, "$instance": ".*", "$channel": ".*"}.items():
        expression = expression.replace(name, value)
    return expression


class Dashboard:
    def __init__(self):
        self.model = json.loads(DASHBOARD.read_text())
        self.panels = [p for p in self.model["panels"] if p["type"] != "row"]
        self.variables = {v["name"]: v for v in self.model["templating"]["list"]}

    def targets(self):
        for panel in self.panels:
            for target in panel["targets"]:
                yield f"{panel['title']} {target['refId']}", target["expr"]

    def expressions(self):
        yield from self.targets()
        for note in self.model["annotations"]["list"]:
            yield f"annotation {note['name']}", note["expr"]

    def faults(self):
        """What Grafana would refuse, or show wrong."""
        ids = [p["id"] for p in self.model["panels"]]
        if len(set(ids)) != len(ids):
            yield "panels with the same id"
        cells = set()
        for panel in self.model["panels"]:
            box = panel["gridPos"]
            own = {(x, y) for x in range(box["x"], box["x"] + box["w"]) for y in range(box["y"], box["y"] + box["h"])}
            if own & cells or box["x"] + box["w"] > 24:
                yield f"{panel['title']} overlaps another panel"
            cells |= own
            if panel["type"] != "row" and not panel.get("description"):
                yield f"{panel['title']} has no description"
            for part in [panel, *panel.get("targets", [])]:
                if panel["type"] != "row" and part["datasource"]["uid"] != "${DS_PROMETHEUS}":
                    yield f"{panel['title']} has a data source of its own"
        used = set(re.findall(r"\$(?:\{)?([A-Za-z]\w*)", json.dumps(self.model))) - {"__rate_interval"}
        if used - {"__all"} - set(self.variables):
            yield f"unknown variables: {used - set(self.variables)}"


def alert_expressions(rules):
    """Name and expression of each alert, as Prometheus has read them."""
    return [(rule["name"], rule["query"]) for group in rules["groups"] for rule in group["rules"]]


def documented():
    """The labels of each metric in docs/metrics.md."""
    rows = re.findall(r"^\| `((?:liverelay|process)_\w+)(?:\{(.*?)\})?` \|", (ROOT / "docs/metrics.md").read_text(), re.M)
    metrics = {"up": set()}
    for name, labels in rows:
        names = set(re.findall(r"\w+", labels))
        for suffix in ["_bucket", "_sum", "_count"] if name == HISTOGRAM else [""]:
            metrics[name + suffix] = names
    return metrics


def undocumented(expression, metrics):
    """Names of metrics and labels of an expression that docs/metrics.md does not have."""
    found = SELECTOR.findall(expression)
    faults = [name for name, _ in found if name not in metrics]
    known = set().union(COMMON_LABELS, *(metrics.get(name, set()) for name, _ in found))
    if any("_channel_" in name for name, _ in found):
        known.add("channel")
    for name, selector in found:
        own = COMMON_LABELS | metrics.get(name, set())
        faults += [f"{name}{{{label}}}" for label in re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"', selector) if label not in own]
    for labels in re.findall(r"\b(?:by|on|without)\s*\(([^)]*)\)", expression):
        faults += [f"by {label}" for label in map(str.strip, labels.split(",")) if label not in known]
    return faults


class Prometheus:
    """Debian's Prometheus with deploy/prometheus.yml, but for its target and its intervals."""

    def __init__(self, directory, port, target=None, arguments=()):
        self.directory, self.base = pathlib.Path(directory), f"http://127.0.0.1:{port}"
        self.directory.mkdir(parents=True, exist_ok=True)
        text = (ROOT / "deploy/prometheus.yml").read_text()
        text = re.sub(r"(_interval): 15s", r"\1: 1s", text)
        text = text.replace("127.0.0.1:8080", target) if target else re.sub(r"(?ms)^scrape_configs:.*?^$", "", text)
        (self.directory / "prometheus.yml").write_text(text)
        shutil.copy(ALERTS, self.directory)
        self.log = open(self.directory / "log", "w+")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.directory}/prometheus.yml", f"--storage.tsdb.path={self.directory}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=30d", *arguments],
            stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 60
        while True:
            try:
                return urllib.request.urlopen(f"{self.base}/-/ready", timeout=5).close()
            except (urllib.error.URLError, OSError):
                if time.monotonic() > deadline or self.process.poll() is not None:
                    sys.exit(f"Prometheus does not start:\n{(self.directory / 'log').read_text()[-2000:]}")
                time.sleep(0.2)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def get(self, path, **parameters):
        url = f"{self.base}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error).get("error", error.code)) from None

    def instant(self, expression):
        return self.get("query", query=expression)["result"]

    def range(self, expression, start, end, step):
        """The series, each with its points that are numbers."""
        result = self.get("query_range", query=expression, start=start, end=end, step=step)["result"]
        series = [(s["metric"], [(t, float(v)) for t, v in s["values"] if v not in ("NaN", "+Inf", "-Inf")]) for s in result]
        return [(labels, points) for labels, points in series if points]

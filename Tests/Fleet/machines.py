"""The processes of Tests/Fleet/run: etcd, a store, an upstream, and relays in network namespaces."""

import collections
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import textwrap
import time
import urllib.request

BRIDGE, HOST, NETWORK = "lrfleet", "10.77.0.1", "10.77.0.0/24"
MEMBERS = (1, 2, 3)
NODES = (1, 2, 3, 4, 5)
PORT = 8080


def run(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE if check else subprocess.DEVNULL)


class Machines:
    nodes = NODES

    def __init__(self, program, capture, work, channels, engine, upstream=None):
        (self.program, self.capture, self.work, self.channels, self.engine) = (program, capture, work, channels, engine)
        self.first_upstream = upstream
        self.processes = {}
        self.environment = dict(os.environ, AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="testtest", AWS_REGION="us-east-1")

    # The whole

    def start(self):
        self.work.mkdir(parents=True, exist_ok=True)
        self._network()
        self.start_members()
        store = self._store()
        upstream = self._upstream()
        lines = ["channels:"]
        for number in range(self.channels):
            url = self.first_upstream if number == 0 and self.first_upstream else upstream
            lines += [f"  - name: c{number}", f"    url: {url}", "    always: true"]
            if store:
                lines.append(f"    archive-store: {store}")
        (self.work / "channels.yaml").write_text("\n".join(lines) + "\n")
        key = self.work / "key"
        key.write_text(secrets.token_hex(32))
        key.chmod(0o600)
        self.records = self._counted_store() if self.engine == "s3" else self._etcd()
        for node in NODES:
            self.start_node(node)

    def end(self):
        for name, process in self.processes.items():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        for node in NODES:
            run("ip", "netns", "del", self._space(node), check=False)
        run("ip", "link", "del", BRIDGE, check=False)

    def address(self, node):
        return f"10.77.0.{10 + node}"

    def _space(self, node):
        return f"{BRIDGE}{node}"

    def _network(self):
        for node in NODES:
            run("ip", "netns", "del", self._space(node), check=False)
        run("ip", "link", "del", BRIDGE, check=False)
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{HOST}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for node in NODES:
            space, here, there = self._space(node), f"lrf{node}a", f"lrf{node}b"
            run("ip", "netns", "add", space)
            run("ip", "link", "add", here, "type", "veth", "peer", "name", there)
            run("ip", "link", "set", here, "master", BRIDGE, "up")
            run("ip", "link", "set", there, "netns", space)
            inside = ("ip", "netns", "exec", space, "ip")
            run(*inside, "addr", "add", f"{self.address(node)}/24", "dev", there)
            run(*inside, "link", "set", there, "up")
            run(*inside, "link", "set", "lo", "up")

    def _start(self, name, *words):
        log = open(self.work / f"{name}.log", "ab")
        self.processes[name] = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, env=self.environment)
        return self.processes[name]

    # Engine, store, upstream

    def _etcd(self):
        return "etcd://" + ",".join(f"{HOST}:{member}2379" for member in MEMBERS) + "/test"

    def start_members(self):
        cluster = ",".join(f"e{member}=http://{HOST}:{member}2380" for member in MEMBERS)
        for member in MEMBERS:
            name = f"etcd{member}"
            if name in self.processes and self.processes[name].poll() is None:
                continue
            client, peer = f"http://{HOST}:{member}2379", f"http://{HOST}:{member}2380"
            self._start(
                name, "etcd", "--name", f"e{member}", "--data-dir", self.work / name, "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", cluster, "--initial-cluster-state", "new", "--log-level", "error")

    def stop_member(self, member):
        self.processes[f"etcd{member}"].kill()
        self.processes[f"etcd{member}"].wait()

    def stop_members(self):
        for member in MEMBERS:
            self.stop_member(member)

    def leader(self):
        for member in MEMBERS:
            try:
                request = urllib.request.Request(f"http://{HOST}:{member}2379/v3/maintenance/status", b"{}")
                status = json.load(urllib.request.urlopen(request, timeout=2))
                if status["leader"] == status["header"]["member_id"]:
                    return member
            except OSError:
                pass
        return MEMBERS[0]

    def engine_rate(self, seconds=20):
        """Requests per second and node, by the metrics of etcd or the log of what stands before the store."""
        if self.engine == "s3":
            return self._store_rate(seconds)

        def count():
            total = 0
            for member in MEMBERS:
                text = urllib.request.urlopen(f"http://{HOST}:{member}2379/metrics", timeout=2).read().decode()
                for line in text.splitlines():
                    found = re.match(r'grpc_server_started_total\{.*grpc_service="etcdserverpb.KV".*\} ([\d.e+]+)', line)
                    total += float(found[1]) if found else 0
            return total
        before, start = count(), time.time()
        time.sleep(seconds)
        return f"{(count() - before) / (time.time() - start) / len(NODES):.2f} per second and node"

    def _store_rate(self, seconds):
        """Requests of a node for records, for each PUT of its record and for each 2 s."""
        log = self.work / "count.log"
        before = log.stat().st_size
        time.sleep(seconds)
        kinds = collections.Counter()
        for line in log.read_bytes()[before:].decode().splitlines():
            if found := re.match(r"10\.77\.0\.\d+ ([A-Z]+) (\S+) \d+$", line):
                kinds["LIST" if "list-type=" in found[2] else found[1]] += 1
        words = ", ".join(f"{count / kinds['PUT']:.2f} {kind}" for kind, count in sorted(kinds.items()))
        total = sum(kinds.values())
        return f"{total / kinds['PUT']:.2f} for each renewal ({words}), {total / seconds * 2 / len(NODES):.2f} in 2 s and node"

    def _store(self):
        if weed := shutil.which("weed"):
            config = self.work / "s3.json"
            config.write_text(json.dumps({"identities": [{
                "name": "test", "credentials": [{"accessKey": "test", "secretKey": "testtest"}],
                "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}))
            (self.work / "weed").mkdir(exist_ok=True)
            self._start("store", weed, "server", "-dir", self.work / "weed", "-ip", HOST, "-s3", "-s3.config", config,
                        "-s3.port", "8333", "-volume.port", "8334", "-master.port", "9433",
                        "-filer.port", "8988", "-volume.max", "50", "-master.volumeSizeLimitMB", "512")
            base = f"http://{HOST}:8333"
        elif moto := shutil.which("moto_server"):
            self._start("store", moto, "-H", HOST, "-p", "8333")
            base = f"http://{HOST}:8333"
        else:
            return None
        self._make_bucket(base)
        return f"s3://relays/archive?endpoint={base}"

    def _counted_store(self):
        """The store behind HAProxy, whose log has the requests for records."""
        config = self.work / "count.cfg"
        config.write_text(textwrap.dedent(f"""\
            global
                log stdout format raw local0
            defaults
                mode http
                log global
                log-format "%ci %HM %HU %ST"
                timeout connect 5s
                timeout client 60s
                timeout server 60s
            listen records
                bind {HOST}:8335
                server store {HOST}:8333
        """))
        self._start("count", "haproxy", "-db", "-f", config)
        run("curl", "-s", "--retry", "40", "--retry-connrefused", "--retry-delay", "1", f"http://{HOST}:8335/")
        return f"s3://relays/fleet?endpoint=http://{HOST}:8335"

    def _make_bucket(self, base):
        script = f"curl -sf --retry 40 --retry-all-errors --retry-delay 1 --aws-sigv4 aws:amz:us-east-1:s3 -u test:testtest -X PUT {base}/relays"
        if subprocess.run(["bash", "-c", script], stdout=subprocess.DEVNULL).returncode:
            raise SystemExit("the store does not start: see store.log")

    def _upstream(self):
        self._start("upstream", self.program, "replay", self.capture, "--live", "--loop", "--listen", HOST, "--port", "9100")
        for _ in range(100):
            time.sleep(0.2)
            found = re.search(rb"http://\S+", (self.work / "upstream.log").read_bytes())
            if found:
                return found[0].decode()
        raise SystemExit("the upstream does not start: see upstream.log")

    # Nodes

    def balance(self, root):
        """Starts HAProxy with the configuration of deploy/. Returns its address."""
        text = (root / "deploy/haproxy.cfg").read_text().replace("bind :80", f"bind {HOST}:9080")
        lines = []
        for line in text.splitlines():
            if found := re.match(r"    server n(\d) node", line):
                if found[1] == "1":
                    lines += [f"    server n{node} {self.address(node)}:{PORT}" for node in NODES]
            else:
                lines.append(line)
        config = self.work / "haproxy.cfg"
        config.write_text("\n".join(lines) + "\n")
        self._start("haproxy", "haproxy", "-db", "-f", config)
        return (HOST, 9080)

    def _preload(self, seconds):
        """A library with which the date of a process is wrong by so much. Other clocks stay right."""
        library = self.work / f"clock{seconds}.so"
        if not library.exists():
            source = self.work / "clock.c"
            source.write_text(f"""
                #define _GNU_SOURCE
                #include <sys/syscall.h>
                #include <sys/time.h>
                #include <time.h>
                #include <unistd.h>
                int clock_gettime(clockid_t id, struct timespec *t) {{
                    int result = syscall(SYS_clock_gettime, id, t);
                    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) t->tv_sec += {seconds};
                    return result;
                }}
                int gettimeofday(struct timeval *t, void *zone) {{
                    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
                    t->tv_sec = now.tv_sec; t->tv_usec = now.tv_nsec / 1000; return 0;
                }}
                time_t time(time_t *t) {{
                    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
                    if (t) *t = now.tv_sec; return now.tv_sec;
                }}
            """)
            run("cc", "-shared", "-fPIC", "-O", "-o", str(library), str(source))
        return library

    def start_node(self, node, clock=0):
        spool = self.work / f"spool{node}"
        spool.mkdir(exist_ok=True)
        self._start(
            f"node{node}", "ip", "netns", "exec", self._space(node),
            *(["env", f"LD_PRELOAD={self._preload(clock)}"] if clock else []), self.program, "serve", self.work / "channels.yaml",
            "--listen", "0.0.0.0", "--port", PORT, "--spool", spool, "--no-epg", "--fleet", self.records,
            "--fleet-key", self.work / "key", "--fleet-name", f"n{node}",
            "--fleet-address", f"http://{self.address(node)}:{PORT}", "--fleet-capacity", "100")

    def kill(self, node):
        self._signal(node, signal.SIGKILL)
        self.processes[f"node{node}"].wait()

    def terminate(self, node):
        """Returns when the process has ended."""
        self._signal(node, signal.SIGTERM)
        self.processes[f"node{node}"].wait()

    def suspend(self, node):
        self._signal(node, signal.SIGSTOP)

    def resume(self, node):
        self._signal(node, signal.SIGCONT)

    def _signal(self, node, number):
        # `ip netns exec` becomes the program itself.
        self.processes[f"node{node}"].send_signal(number)

    def cut(self, node, what="engine"):
        self._filter(node, "-A", what)

    def join(self, node, what="engine"):
        self._filter(node, "-D", what)

    def _filter(self, node, action, what):
        members = ",".join(f"{member}2379" for member in MEMBERS)
        ports = {"engine": "8335" if self.engine == "s3" else members, "store": "8333", "upstream": "9100"}[what]
        run("ip", "netns", "exec", self._space(node), "iptables", action, "OUTPUT", "-p", "tcp", "-d", HOST,
            "-m", "multiport", "--dports", ports, "-j", "DROP")

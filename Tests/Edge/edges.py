"""The edges under test, and a counter of the requests that reach the relay behind them."""

import asyncio
import collections
import pathlib
import re
import shutil
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUEST = re.compile(rb"(?:\A|\r\n\r\n)(GET|HEAD) (\S+) HTTP/1")


class Counter:
    """Forwards connections to a port that may change, and counts the requests by path."""

    def __init__(self):
        self.target = None
        self.paths = collections.Counter()
        # Bytes of answers.
        self.sent = 0

    async def start(self):
        self.server = await asyncio.start_server(self.forward, "127.0.0.1", 0, backlog=1024)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def forward(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(self.copy(reader, far_writer, True), self.copy(far_reader, writer, False))

    async def copy(self, reader, writer, counts):
        try:
            while part := await reader.read(1 << 16):
                if counts:
                    self.paths.update(path.decode() for _, path in REQUEST.findall(part))
                else:
                    self.sent += len(part)
                writer.write(part)
                await writer.drain()
        except (OSError, asyncio.CancelledError):
            pass
        writer.close()

    def total(self):
        return sum(self.paths.values())


class Edge:
    """A process of nginx or varnishd with the configuration of `deploy/`, but for its ports and directories.

    `shares_copies`: with the lines of docs/install.md by which viewers with different tokens share a copy (nginx).
    """

    def __init__(self, kind, directory, backend, shares_copies=False):
        self.kind, self.directory, self.shares_copies = kind, pathlib.Path(directory), shares_copies
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = self.nginx(backend) if kind == "nginx" else self.varnish(backend)
        self.log = open(self.directory / f"{kind}.log", "w+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.wait()

    def nginx(self, backend):
        text = (ROOT / "deploy/nginx.conf").read_text()
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{backend}").replace("listen [::]:80;", "")
        text = text.replace("listen 80;", f"listen 127.0.0.1:{self.port};")
        text = text.replace("/var/cache/nginx/liverelay", f"{self.directory}/cache")
        if self.shares_copies:
            lines = re.search(r"(?ms)^ +location ~ \^\(\?<base>.*?\n\n", (ROOT / "docs/install.md").read_text()).group()
            place = "    # Not for viewers."
            assert place in text
            text = text.replace(place, lines.replace("http://relay", "http://liverelay") + place)
        main = self.directory / "nginx.conf"
        temporary = "".join(
            f"{kind}_temp_path {self.directory}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main.write_text(
            f"daemon off; pid {self.directory}/pid; worker_processes 1; error_log stderr;\n"
            f"events {{ worker_connections 4096; }}\nhttp {{ access_log off;\n{temporary}{text}}}\n")
        self.directory.chmod(0o777)
        return ["nginx", "-c", str(main), "-e", "stderr"]

    def varnish(self, backend):
        text = (ROOT / "deploy/varnish.vcl").read_text().replace('"8080"', f'"{backend}"')
        (self.directory / "edge.vcl").write_text(text)
        return ["varnishd", "-F", "-n", str(self.directory / "varnish"), "-f", str(self.directory / "edge.vcl"),
                "-a", f"127.0.0.1:{self.port}", "-s", "malloc,256m", "-T", "none", "-p", "vcc_allow_inline_c=off"]

    def wait(self):
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        self.log.seek(0)
        raise SystemExit(f"{self.kind} does not start: {self.log.read()}")

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

"""Clients of a relay that count every request that fails, in one thread, by asyncio."""

import asyncio
import concurrent.futures
import ctypes
import datetime
import hashlib
import re
import ssl
import time
import urllib.parse


class Counts:
    """What all clients saw."""

    def __init__(self):
        self.requests, self.redirects, self.connections, self.closed_idle = 0, 0, 0, []
        self.refused, self.failures, self.slowest, self.breaches = 0, [], (0.0, ""), []
        self.streams = 0  # Whole responses by HTTP/2.
        self.stream_ends, self.began, self.killed, self.lost = 0, time.monotonic(), 0.0, 0

    def is_killed(self):
        """Whether a process with connections was killed just now."""
        return time.monotonic() - self.killed < 0.5

    def fail(self, failure):
        what = str(failure)
        if failure.is_lost and self.is_killed():
            self.lost += 1
            return
        self.failures.append(f"{time.monotonic() - self.began:.2f} s: {what}")

    def breach(self, what):
        self.breaches.append(f"{time.monotonic() - self.began:.2f} s: {what}")


class Failure(Exception):
    """A request without its whole response. `is_lost`: because its connection has ended."""

    def __init__(self, what, is_lost=False):
        super().__init__(what)
        self.is_lost = is_lost


def unchecked():
    """The certificate of the test signs itself."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Client:
    """One keep-alive connection to the relay, encrypted if `is_secure`."""

    def __init__(self, port, counts, is_secure=False):
        self.port, self.counts, self.reader, self.writer = port, counts, None, None
        self.security = unchecked() if is_secure else None

    async def connect(self):
        try:
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", self.port, limit=1 << 20, ssl=self.security)
        except OSError as error:
            self.counts.refused += 1
            raise Failure(f"no connection: {error}")
        self.counts.connections += 1

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None

    async def head(self, path, fields=(), is_asked_again=False):
        """Sends a request. Returns the status and the fields of the response."""
        if self.writer and self.reader.at_eof():  # Closed while it was idle.
            self.close()
        is_used = self.writer is not None
        if not is_used:
            await self.connect()
        self.counts.requests += 1
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *fields]
        try:
            self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
            await self.writer.drain()
            text = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 30)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            self.close()
            # A connection that was idle may be closed at the moment of the request: RFC 9112 §9.3.1 says to ask again.
            if is_used and isinstance(error, (ConnectionError, asyncio.IncompleteReadError)) and not getattr(error, "partial", b""):
                if self.counts.is_killed():
                    self.counts.lost += 1
                else:
                    self.counts.closed_idle.append(path)
                return await self.head(path, fields, is_asked_again=True)
            raise Failure(f"{path}: no response: {error!r}", is_lost=True)
        status, *rest = text.decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest if line)}
        return int(status.split()[1]), fields

    async def body(self, fields, path, pause=0):
        try:
            if "content-length" in fields:
                left, parts = int(fields["content-length"]), []
                while left:
                    part = await asyncio.wait_for(self.reader.read(min(left, 1 << 16)), 30)
                    if not part:
                        raise Failure(f"{path}: cut short, {left} bytes are missing", is_lost=True)
                    parts.append(part)
                    left -= len(part)
                    if pause:
                        await asyncio.sleep(pause)
                return b"".join(parts)
            return b"".join([chunk async for chunk in self.chunks(path)])
        except OSError as error:
            raise Failure(f"{path}: reset: {error!r}", is_lost=True)

    async def chunks(self, path):
        """The chunks of a body until its end."""
        try:
            while size := int(await asyncio.wait_for(self.reader.readuntil(b"\r\n"), 60), 16):
                yield (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readexactly(2)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            raise Failure(f"{path}: cut short: {error!r}", is_lost=True)

    async def get(self, path, *fields, expect=(200,), pause=0):
        """The body of a response, which has to be whole and of an expected status."""
        for _ in range(5):
            began = time.monotonic()
            try:
                status, got = await self.head(path, fields)
                body = await self.body(got, path, pause)
                if not pause and "_HLS_msn" not in path:
                    self.counts.slowest = max(self.counts.slowest, (time.monotonic() - began, path))
            except Failure:
                self.close()
                raise
            if got.get("connection") == "close":
                self.close()
            if status in (301, 302, 307, 308):
                self.counts.redirects += 1
                path = urllib.parse.urljoin(path, got["location"])
                continue
            if status not in expect:
                raise Failure(f"{path}: status {status}")
            return body
        raise Failure(f"{path}: redirects without end")


class CurlClient:
    """One HTTP/2 connection, by libcurl, which asks again as RFC 9113 says when a connection ends before an answer."""

    curl = None
    threads = concurrent.futures.ThreadPoolExecutor(200)
    URL, WRITE, VERSION, PEER, HOST, TIMEOUT, NOSIGNAL, FOLLOW = 10002, 20011, 84, 64, 81, 13, 99, 52
    STATUS, CONNECTS, USED_VERSION = 0x200002, 0x20001A, 0x20002E
    HTTP2 = 3

    def __init__(self, port, counts):
        if CurlClient.curl is None:
            CurlClient.curl = ctypes.CDLL("libcurl.so.4")
            CurlClient.curl.curl_easy_init.restype = ctypes.c_void_p
            CurlClient.curl.curl_easy_strerror.restype = ctypes.c_char_p
            CurlClient.curl.curl_global_init(ctypes.c_long(3))
        self.port, self.counts, self.parts = port, counts, []
        self.handle = ctypes.c_void_p(self.curl.curl_easy_init())
        call = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
        self.write = call(self.receive)
        self.curl.curl_easy_setopt(self.handle, self.WRITE, self.write)
        values = {self.VERSION: 4, self.PEER: 0, self.HOST: 0, self.TIMEOUT: 60, self.NOSIGNAL: 1, self.FOLLOW: 1}
        for option, value in values.items():
            self.curl.curl_easy_setopt(self.handle, option, ctypes.c_long(value))

    def receive(self, bytes, size, count, _):
        self.parts.append(ctypes.string_at(bytes, size * count))
        return size * count

    def information(self, name):
        value = ctypes.c_long()
        self.curl.curl_easy_getinfo(self.handle, name, ctypes.byref(value))
        return value.value

    async def get(self, path):
        self.counts.requests += 1
        self.parts = []
        url = f"https://127.0.0.1:{self.port}{path}".encode()
        self.curl.curl_easy_setopt(self.handle, self.URL, ctypes.c_char_p(url))
        began = time.monotonic()
        code = await asyncio.get_running_loop().run_in_executor(self.threads, self.curl.curl_easy_perform, self.handle)
        self.counts.connections += self.information(self.CONNECTS)
        if code == 7:
            self.counts.refused += 1
        if code:
            raise Failure(f"{path}: HTTP/2: {self.curl.curl_easy_strerror(code).decode()}", is_lost=True)
        if "_HLS_msn" not in path:
            self.counts.slowest = max(self.counts.slowest, (time.monotonic() - began, path))
        if (version := self.information(self.USED_VERSION)) != self.HTTP2:
            raise Failure(f"{path}: HTTP version {version} of libcurl")
        if (status := self.information(self.STATUS)) != 200:
            raise Failure(f"{path}: HTTP/2: status {status}")
        self.counts.streams += 1
        return b"".join(self.parts)


class Channel:
    """The media that viewers of a channel got: each segment once, in the order of the numbers."""

    def __init__(self, slug):
        self.slug, self.segments, self.maps, self.discontinuities = slug, {}, {}, set()
        self.newest, self.grew, self.longest = -1, None, 0.0

    def record_growth(self, number):
        now = time.monotonic()
        if number > self.newest:
            if self.grew:
                self.longest = max(self.longest, now - self.grew)
            self.newest, self.grew = number, now


def date(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


async def watch(channel, client, stop, is_blocking=False):
    """A viewer: polls the playlist, and fetches each segment that it has not got."""
    counts, path, got = client.counts, f"{channel.slug}/live.m3u8", {}
    path = "/" + path.lstrip("/")
    last, next_number = (-1, -1, 0.0), None
    while not stop.is_set():
        began = time.monotonic()
        try:
            query = f"?_HLS_msn={next_number}" if is_blocking and next_number is not None else ""
            text = (await client.get(path + query)).decode()
            sequence = int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text)[1])
            found = re.search(r"#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)", text)
            first_date = re.search(r"#EXT-X-PROGRAM-DATE-TIME:(\S+)", text)
            target = int(re.search(r"#EXT-X-TARGETDURATION:(\d+)", text)[1])
            now = (sequence, int(found[1]) if found else 0, date(first_date[1]) if first_date else last[2])
            if any(after < before - (0.002 if index == 2 else 0) for index, (before, after) in enumerate(zip(last, now))):
                counts.breach(f"{path}: from {last} back to {now}")
            last, number, initialization, begins, is_gap = now, sequence, None, False, False
            for line in text.splitlines():
                if line.startswith("#EXT-X-MAP:"):
                    initialization = re.search(r'URI="([^"]+)"', line)[1]
                elif line == "#EXT-X-DISCONTINUITY":
                    begins = True
                elif line == "#EXT-X-GAP":
                    is_gap = True
                elif line and not line.startswith("#"):
                    await fetch(channel, client, number, line, initialization, begins, is_gap, got)
                    number, begins, is_gap = number + 1, False, False
            channel.record_growth(number - 1)
            if next_number is not None and number < next_number:
                counts.breach(f"{path}: the newest number went from {next_number - 1} back to {number - 1}")
            next_number = number
        except Failure as failure:
            counts.fail(failure)
            await asyncio.sleep(0.05)
            continue
        if not is_blocking:
            await asyncio.sleep(max(0.0, target / 2 - (time.monotonic() - began)))


async def fetch(channel, client, number, name, initialization, begins, is_gap, got):
    known = got.get(number)
    if known:
        if known != name:
            client.counts.breach(f"{channel.slug}: segment {number} is {known}, then {name}")
        return
    got[number] = name
    got.pop(number - 200, None)
    if begins:
        channel.discontinuities.add(number)
    if is_gap:
        channel.segments.setdefault(number, None)
        return
    base = f"/{channel.slug}/" if channel.slug else "/"
    if initialization not in channel.maps:
        channel.maps[initialization] = await client.get(base + initialization)
    body = await client.get(base + name)
    mark = hashlib.blake2b(body, digest_size=16).digest()
    stored = channel.segments.setdefault(number, (mark, initialization, body))
    if stored and stored[0] != mark:
        client.counts.breach(f"{channel.slug}: segment {number} has other bytes")


async def stream(channel, client, stop):
    """A client of the endless transport stream, which connects again when the stream has ended."""
    path = f"/{channel.slug}/live.ts".replace("//", "/")
    while not stop.is_set():
        size = 0
        try:
            status, fields = await client.head(path)
            if status in (301, 302, 307, 308):
                await client.body(fields, path)
                client.close()
                continue
            if status != 200:
                raise Failure(f"{path}: status {status}")
            async for chunk in client.chunks(path):
                size += len(chunk)
                if chunk[0] != 0x47 or len(chunk) % 188:
                    raise Failure(f"{path}: a chunk is not of whole packets")
                if stop.is_set():
                    return client.close()
            client.counts.stream_ends += 1
        except Failure as failure:
            if not stop.is_set():
                client.counts.fail(failure)
                await asyncio.sleep(0.05)
        client.close()


async def download(channel, client, stop, seconds):
    """Reads a clip of the rewind slowly, and single ranges of segments."""
    base = f"/{channel.slug}/".replace("//", "/")
    while not stop.is_set():
        try:
            text = (await client.get(base + "dvr.m3u8?last=30")).decode()
            dates = re.findall(r"#EXT-X-PROGRAM-DATE-TIME:(\S+)", text)
            names = [line for line in text.splitlines() if line and not line.startswith("#")]
            part = await client.get(base + names[-1], "Range: bytes=100-299", expect=(206,))
            if len(part) != 200:
                raise Failure(f"{names[-1]}: {len(part)} bytes of a range of 200")
            end = date(dates[-1]) - 2
            size = await client.head(f"{base}clip.ts?start={end - 8:.3f}&end={end:.3f}")
            if size[0] != 200:
                await client.body(size[1], "clip")
                if size[0] == 404:  # The rewind is still too short.
                    await asyncio.sleep(1)
                    continue
                raise Failure(f"{base}clip.ts: status {size[0]}")
            length = int(size[1].get("content-length", 1 << 20))
            await client.body(size[1], base + "clip.ts", pause=seconds / max(1, length / (1 << 16)))
            if size[1].get("connection") == "close":
                client.close()
        except Failure as failure:
            client.close()
            if not stop.is_set():
                client.counts.fail(failure)
                await asyncio.sleep(0.2)


async def follow_events(client, stop, token):
    """A client of the events of the API, which connects again when they end."""
    while not stop.is_set():
        try:
            status, fields = await client.head("/api/events", [f"Authorization: Bearer {token}"])
            if status == 307:
                await client.body(fields, "/api/events")
            elif status != 200:
                raise Failure(f"/api/events: status {status}")
            else:
                async for _ in client.chunks("/api/events"):
                    if stop.is_set():
                        break
        except Failure as failure:
            if not stop.is_set():
                client.counts.fail(failure)
        client.close()

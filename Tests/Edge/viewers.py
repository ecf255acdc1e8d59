"""Viewers that do what players do: reload the live playlist and fetch what is new in it, on one connection each."""

import asyncio
import collections
import random
import time
import zlib


class Connection:
    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def get(self, path, encoding="gzip", method="GET", fields=""):
        """Status, header fields in lower case, body. A connection that was closed is opened again, as players do.
        `fields`: lines of the request's head, each with its end."""
        self.has_body = method != "HEAD"
        for attempt in (1, 2):
            try:
                if self.writer is None:
                    self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.writer.write(
                    f"{method} {path} HTTP/1.1\r\nHost: edge\r\nAccept-Encoding: {encoding}\r\n{fields}\r\n".encode())
                return await asyncio.wait_for(self.read(), 60)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                self.close()
                if attempt == 2:
                    return 0, {}, b""

    async def read(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = b""
        if not self.has_body:
            pass
        elif "content-length" in fields:
            body = await self.reader.readexactly(int(fields["content-length"]))
        elif fields.get("transfer-encoding") == "chunked":
            while size := int((await self.reader.readline()).split(b";")[0], 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        if fields.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), fields, body

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None


class Audience:
    """What all viewers got: answers by kind of resource and status."""

    def __init__(self, port, path="/live.m3u8"):
        self.port, self.path = port, path
        self.statuses = collections.Counter()
        self.edge_ages = []

    async def watch(self, count, seconds):
        ends = time.monotonic() + seconds
        await asyncio.gather(*(self.view(ends, random.random() * 2) for _ in range(count)))
        return self

    async def view(self, ends, delay):
        await asyncio.sleep(delay)
        connection, seen = Connection(self.port), set()
        base = self.path.rpartition("/")[0]
        # Spellings differ from player to player, and must not multiply the copies.
        encoding = random.choice(["gzip", "gzip, deflate", "gzip, deflate, br", "identity"])
        while time.monotonic() < ends:
            began = time.monotonic()
            status, fields, body = await connection.get(self.path, encoding)
            self.statuses["playlist", status] += 1
            if fields.get("content-encoding") == "gzip":
                body = zlib.decompress(body, 31)
            lines = body.decode().split("\n") if status == 200 else []
            names = [line for line in lines if line and not line.startswith("#")]
            names = names if seen else names[-3:]
            maps = [line.split('"')[1] for line in lines if line.startswith("#EXT-X-MAP")][-1:]
            for name in maps + names:
                if name not in seen:
                    seen.add(name)
                    status, _, _ = await connection.get(f"{base}/{name}", encoding)
                    self.statuses["media", status] += 1
            target = next((int(line.split(":")[1]) for line in lines if line.startswith("#EXT-X-TARGETD")), 2)
            await asyncio.sleep(max(0.2, target - (time.monotonic() - began)))
        connection.close()

    def failures(self, kind):
        return sum(count for (k, status), count in self.statuses.items() if k == kind and status != 200)

    def requests(self):
        return sum(self.statuses.values())

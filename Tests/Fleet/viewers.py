"""Viewers of Tests/Fleet/run behind HAProxy with deploy/haproxy.cfg. Each has a connection of its own."""

import asyncio
import collections
import random
import re
import threading
import time

PERIOD = 2.0  # seconds between two playlists of a viewer
PATIENCE = 10.0  # seconds after which players give a request up


class Viewers:
    """`count` viewers, who are counted by the answers that they get."""

    def __init__(self, count, channels, address, log):
        (self.count, self.channels, self.address, self.log) = (count, channels, address, log)
        self.answers = collections.Counter()
        threading.Thread(target=lambda: asyncio.run(self.watch()), daemon=True).start()

    def begin(self):
        self.answers = collections.Counter()

    def result(self):
        failures = {kind: number for kind, number in self.answers.items() if kind not in ("200", "307")}
        return f"{sum(self.answers.values())} requests of viewers, failed: {failures or 0}"

    async def watch(self):
        await asyncio.gather(*(Viewer(self, f"c{number % self.channels}").run() for number in range(self.count)))


class Viewer:
    def __init__(self, viewers, channel):
        (self.viewers, self.channel, self.connection, self.newest) = (viewers, channel, None, None)

    async def run(self):
        await asyncio.sleep(random.uniform(5, 5 + PERIOD))
        while True:
            start = time.monotonic()
            playlist = await self.get("live.m3u8")
            lines = (playlist or b"").decode().splitlines()
            names = [line for line in lines if line and not line.startswith("#")]
            # The tags of the last segment are between its name and the one before.
            tags = lines[lines.index(names[-2]):] if len(names) > 1 else lines
            if names and names[-1] != self.newest and "#EXT-X-GAP" not in tags:
                self.newest = names[-1]
                await self.get(self.newest)
            await asyncio.sleep(max(0, start + PERIOD - time.monotonic()))

    async def get(self, name):
        path = f"/{self.channel}/{name}"
        kind, body = await self.ask(self.viewers.address, path)
        if kind == "307":
            self.viewers.answers[kind] += 1
            kind, body = await self.ask(*body)
        self.viewers.answers[kind] += 1
        if kind != "200":
            with open(self.viewers.log, "a") as log:
                print(time.strftime("%H:%M:%S"), path, kind, file=log)
        return body if kind == "200" else None

    async def ask(self, address, path):
        """The status, and the body or the place of a redirect."""
        isOwn = address == self.viewers.address
        connection = self.connection if isOwn else None
        try:
            async with asyncio.timeout(PATIENCE):
                # A server may close a connection that waits: a client asks again.
                for isNew in ([False] if connection else []) + [True]:
                    if isNew:
                        connection = await asyncio.open_connection(*address)
                    try:
                        status, head, body = await self.exchange(*connection, address, path)
                        break
                    except (asyncio.IncompleteReadError, ConnectionError):
                        connection[1].close()
                        if isNew:
                            raise
            keep = isOwn and b"connection: close" not in head.lower()
            if isOwn:
                self.connection = connection if keep else None
            if not keep:
                connection[1].close()
            if status == "307":
                found = re.search(rb"(?i)location: http://([\d.]+):(\d+)(\S+)", head)
                return status, ((found[1].decode(), int(found[2])), found[3].decode())
            return status, body
        except TimeoutError:
            kind = "timed out"
        except (OSError, asyncio.IncompleteReadError) as error:
            kind = type(error).__name__
        if connection:
            connection[1].close()
        if isOwn:
            self.connection = None
        return kind, None

    async def exchange(self, reader, writer, address, path):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n\r\n".encode())
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if length:
            body = await reader.readexactly(int(length[1]))
        else:
            body = b""
            while size := int(await reader.readline(), 16):
                body += await reader.readexactly(size)
                await reader.readline()
            await reader.readline()
        return head.split(b" ")[1].decode(), head, body

"""An origin of one playlist that comes and goes faster than a relay can."""

import asyncio


class Origin:
    HEADERS = "Cache-Control: max-age=1, stale-while-revalidate=1, stale-if-error=30"

    def __init__(self):
        self.port, self.count, self.is_ready, self.writers = 0, 0, True, set()

    async def start(self):
        self.server = await asyncio.start_server(self.answer, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    def stop(self):
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()

    async def answer(self, reader, writer):
        self.writers.add(writer)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(0.005)
                self.count += 1
                body = f"#EXTM3U\n#{self.count}\n" if self.is_ready else ""
                status = f"200 OK\r\n{self.HEADERS}" if self.is_ready else "503 Unavailable\r\nCache-Control: no-store"
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        self.writers.discard(writer)
        writer.close()

    async def come_and_go(self, seconds, starting):
        """Serves for 1.3 s, is away for 1.5 s, and answers 503 for `starting` seconds when it is back."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        while loop.time() < ends:
            await asyncio.sleep(1.3)
            self.stop()
            await asyncio.sleep(1.5)
            self.is_ready = starting == 0
            await self.start()
            await asyncio.sleep(starting)
            self.is_ready = True

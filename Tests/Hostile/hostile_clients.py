"""Clients of one channel that are hostile in one way, each on a thread of its own."""
import http.client
import random
import socket
import threading
import time

CLIENTS = ["ranges", "idle", "slow", "restless"]
# Another address than that of the viewers: requests are limited for each address.
SOURCE = ("127.0.0.2", 0)


class HostileClients:
    """`ranges`: 16 that ask for random ranges of the rewind. `idle`: 300 connections that say nothing. `slow`: 50 that ask for
    segments and read a byte a second. `restless`: 16 that connect, ask for half a request and leave."""

    def __init__(self, kind, address, path):
        self.address, self.path, self.isOver = address, path, threading.Event()
        host, port = address.split(":")
        self.host, self.port = host, int(port)
        count = {"ranges": 16, "idle": 300, "slow": 50, "restless": 16}[kind]
        for number in range(count):
            threading.Thread(target=self.run, args=(getattr(self, kind), number), daemon=True).start()

    def end(self):
        self.isOver.set()

    def run(self, step, number):
        while not self.isOver.is_set():
            try:
                step(random.Random(number))
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)

    def ranges(self, numbers):
        connection = http.client.HTTPConnection(self.address, timeout=10, source_address=SOURCE)
        while not self.isOver.is_set():
            connection.request("GET", f"{self.path}/dvr.m3u8?start={time.time() - numbers.random() * 1800:.3f}",
                               headers={"Accept-Encoding": "gzip"})
            connection.getresponse().read()

    def idle(self, numbers):
        with socket.create_connection((self.host, self.port), 5, SOURCE) as connection:
            connection.settimeout(1)
            while not self.isOver.is_set():
                try:
                    if not connection.recv(1):
                        return
                except TimeoutError:
                    pass

    def slow(self, numbers):
        playlist = http.client.HTTPConnection(self.address, timeout=10, source_address=SOURCE)
        playlist.request("GET", f"{self.path}/live.m3u8")
        lines = playlist.getresponse().read().decode().splitlines()
        playlist.close()
        segment = [line for line in lines if line and not line.startswith("#")][0]
        with socket.create_connection((self.host, self.port), 5, SOURCE) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.sendall(f"GET {self.path}/{segment} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            while not self.isOver.is_set() and connection.recv(1):
                time.sleep(1)

    def restless(self, numbers):
        with socket.create_connection((self.host, self.port), 5, SOURCE) as connection:
            connection.sendall(b"GET /c0/live.m3u8 HTTP/1.1\r\nHost: "[:numbers.randrange(1, 40)])
            time.sleep(numbers.random() / 50)

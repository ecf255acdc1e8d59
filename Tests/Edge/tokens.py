"""A relay whose viewers need tokens: whom the edge gives what it has."""

import asyncio
import time

from viewers import Connection

TOKEN, OTHER = "viewer-token-0123456789", "other-token-0123456789"
BEARER = f"Authorization: Bearer {TOKEN}\r\n"
CROWD = 100
# The situation, the query, the fields of the request, the status of the answer; in this order at each resource.
ROWS = [
    ("without a token", "", "", 401),
    ("with a bearer token", "", BEARER, 200),
    ("with a bearer token, again", "", BEARER, 200),
    ("without a token after the bearer", "", "", 401),
    ("with a wrong bearer token", "", f"Authorization: Bearer {OTHER}\r\n", 401),
    ("with the token in the query", f"?token={TOKEN}", "", 200),
    ("with the token in the query, again", f"?token={TOKEN}", "", 200),
    ("with the token in the query and a wrong bearer token", f"?token={TOKEN}", f"Authorization: Bearer {OTHER}\r\n", 401),
    ("with a wrong token in the query", f"?token={OTHER}", "", 401),
    ("without a token after the query", "", "", 401),
    ("with a cookie", "", f"Cookie: token={TOKEN}\r\n", 401),
]


async def status(port, path, fields):
    """The status of an answer whose body may have no end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: edge\r\n{fields}\r\n".encode())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    writer.close()
    return int(head.split()[1])


async def resources(port):
    """The path of each kind of resource."""
    _, _, text = await Connection(port).get("/live.m3u8", "identity", fields=BEARER)
    lines = text.decode().split("\n")
    # Without the query by which periods differ.
    init = next(line.split('"')[1].partition("?")[0] for line in lines if line.startswith("#EXT-X-MAP"))
    segment = [line for line in lines if line and line[0] != "#"][-1]
    return {"segment": segment, "playlist": "live.m3u8", "rewind": "dvr.m3u8", "init section": init,
            "stream": "live.ts", "status": "status.json"}


async def crowd(edge, path, fields=""):
    """The longest time for which one of many waits who ask at once, and the statuses of their answers."""
    connections = [Connection(edge.port) for _ in range(CROWD)]
    began = time.monotonic()
    answers = await asyncio.gather(*(c.get(path, fields=fields) for c in connections))
    took = time.monotonic() - began
    for connection in connections:
        connection.close()
    return took, {answer[0] for answer in answers}


SHARED_ROWS = [
    ("without a token", "", "", 401),
    ("with a bearer token", "", BEARER, 200),
    ("with one token in the query", f"?token={TOKEN}", "", 200),
    ("with the other token in the query", f"?token={OTHER}", "", 200),
    ("without a token, when a copy is stored and a bearer was let in", "", "", 401),
    ("with a wrong token in the query", "?token=wrong-token-0123456789", "", 401),
    ("with a wrong bearer token", "", "Authorization: Bearer wrong-token-0123456789\r\n", 401),
    ("with a bearer token, again", "", BEARER, 200),
    ("without a token, again", "", "", 401),
]


async def shared_copies(edge, counter, relay, report):
    """A relay that knows both tokens behind nginx with the lines of docs/install.md."""
    name = (await resources(relay.port))["segment"]
    wrong = [f"{situation}: {got}, not {expected}" for situation, query, fields, expected in SHARED_ROWS
             if (got := await status(edge.port, f"/{name}{query}", fields)) != expected]
    report(edge.kind, "viewers with two tokens share copies", "; ".join(wrong) or "each has its status", not wrong)
    count = sum(counter.paths[f"/{name}?token={token}"] for token in (TOKEN, OTHER))
    report(edge.kind, "a segment under two tokens is stored once", f"{count} reached the relay", count == 1)


async def tokens(edge, counter, relay, report):
    """`relay` is asked directly for names only, so that nothing is stored before the first row, and ends."""
    wrong, names = [], await resources(relay.port)
    for kind, name in names.items():
        for situation, query, fields, expected in ROWS:
            got = await status(edge.port, f"/{name}{query}", fields)
            if got != expected:
                wrong.append(f"{kind} {situation}: {got}, not {expected}")
        # Methods have no copies of each other either.
        connection = Connection(edge.port)
        got = [(await connection.get("/" + name, method="HEAD", fields=f))[0] for f in (BEARER, "")]
        if got != [200, 401]:
            wrong.append(f"{kind} by HEAD: {got}")
        connection.close()
    count = len(names) * (len(ROWS) + 1)
    report(edge.kind, f"a relay with a token, {count} requests", "; ".join(wrong) or "each has its status", not wrong)
    stored = [counter.paths[f"/{names[kind]}?token={TOKEN}"] for kind in ("segment", "init section")]
    # One of three is the request with a wrong bearer token.
    report(edge.kind, "files under one token are stored", f"{stored} reached the relay", stored == [2, 2])
    for what, path, fields in [("a playlist under one token", f"/live.m3u8?token={TOKEN}", ""),
                               ("a playlist with a bearer token", "/live.m3u8", BEARER),
                               ("the page under one token", f"/?token={TOKEN}", ""),
                               ("a segment with a bearer token", "/" + names["segment"], BEARER)]:
        took, statuses = await crowd(edge, path, fields)
        report(edge.kind, f"{CROWD} viewers ask at once for {what}", f"{took * 1000:.0f} ms, {statuses}",
               took < 1 and statuses == {200})
    relay.process.terminate()
    relay.process.wait()
    await asyncio.sleep(1)
    got = [await status(edge.port, f"/{names[kind]}{query}", fields) for kind, query, fields in [
        ("segment", f"?token={TOKEN}", ""), ("playlist", f"?token={TOKEN}", ""), ("playlist", "", BEARER),
        ("playlist", "", ""), ("segment", "", BEARER), ("segment", "", "")]]
    report(edge.kind, "the relay is away: a segment under a token, and what is not stored", got,
           got[0] == 200 and min(got[1:]) >= 500)

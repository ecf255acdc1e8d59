"""A channel of the rig with three variants, three languages and a pod in every twenty segments, and a relay of it."""

import contextlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Stream"))
from live import RIG, Relay

# In the program and in its advertisement: hertz (French hears the English of that), and lines, the lowest level first.
TONES = {"en": (240, 680), "de": (1480, 1560), "fr": (1520, 680)}
LINES = [(180, 360), (360, 540), (720, 720)]
PLAYLISTS = ["dvr-video-2.m3u8", "dvr-video-1.m3u8", "dvr-video.m3u8"]
REWIND = 15  # seconds that a relay has before the first viewer


def scenario():
    program = {"prog": "P0", "segs": 12}
    pod = [{"prog": "A2", "segs": 8, "clock": "restart", "base": 1.4}, program]
    return {"name": "players", "window": 6, "initial": 3, "items": [program, *(40 * pod)], "pack": "demux_ts",
            "variants": [["v0", "P0"], ["v1", "P0M"], ["v2", "P0S"]], "ladder": {"A2": {"v1": "A3", "v2": "A4"}},
            "audios": [["en", "P0"], ["de", {"P0": "L1", "A2": "LA1"}], ["fr", "L2"]], "expect": {}}


@contextlib.contextmanager
def origin(content):
    """A live channel of the rig; its URL."""
    home = pathlib.Path(os.environ.get("LIVERELAY_RIG_HOME") or pathlib.Path.home() / ".cache/liverelay-rig")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(content, file)
        file.flush()
        process = subprocess.Popen([home / "venv/bin/python", RIG / "origin.py", file.name, "--port", "0"], text=True,
                                   stdout=subprocess.PIPE, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def relay_of_channel(program, options):
    with origin(scenario()) as url, Relay(program, url, "--variants", "all", *options) as relay:
        relay.wait_until_ready()
        time.sleep(REWIND)
        yield relay


def play(player, switches, seed):
    """Lets a player do seeded switches. Returns its answers.

    `player.seek(share)` goes to a share of what can be played, 1 is the live edge; `player.change(level, language)`
    returns after how many seconds the tone was `heard` and the level's size `sized`, None where they were not.
    """
    chance, level, language, answers = random.Random(seed), 0, "en", []
    for number in range(switches):
        if chance.random() < 0.15:
            player.seek(1 if chance.random() < 0.4 else round(chance.uniform(0.1, 0.9), 3))
            time.sleep(0.5)
        kind = chance.choice(("level", "language", "both"))
        if kind != "language":
            level = chance.choice([other for other in range(len(LINES)) if other != level])
        if kind != "level":
            language = chance.choice([other for other in TONES if other != language])
        answers.append({"switch": number, "kind": kind, "level": level, "language": language,
                        **player.change(level, language)})
        time.sleep(chance.uniform(0.3, 1.6))
    return answers


def summary(answers):
    """What there is to tell of the answers: those that failed, and how long the others took."""
    def spread(key, other):
        delays = sorted(one[key] for one in answers if one[key] is not None and one["kind"] != other)
        return delays and {"median": round(statistics.median(delays), 2), "p95": round(delays[len(delays) * 95 // 100], 2),
                           "longest": round(delays[-1], 2)}
    return {"switches": len(answers), "inside": sum(one["inside"] for one in answers),
            "failed": [one for one in answers if None in (one["heard"], one["sized"])],
            "tone": spread("heard", "level"), "size": spread("sized", "language")}

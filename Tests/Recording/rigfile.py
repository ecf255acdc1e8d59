"""Origins of the rig whose frames have numbers, and the frames of a file that was recorded from them."""

import bisect
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request

Frame = collections.namedtuple("Frame", "program number item name published")


def enter(rig):
    """Goes on in the rig's own Python, which has what its verifier needs."""
    home = os.environ.setdefault("LIVERELAY_RIG_HOME", os.path.expanduser("~/.cache/liverelay-rig"))
    python = os.path.join(home, "venv/bin/python")
    if os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(home, "venv")):
        os.execv(python, [python, *sys.argv])
    sys.path.insert(0, str(rig))


class Origin:
    """An origin of the rig, whose clock starts with it."""

    def __init__(self, rig, scenario, directory):
        path = directory / f"{scenario['name']}.json"
        path.write_text(json.dumps(scenario))
        self.process = subprocess.Popen(
            [str(rig / "rig"), "origin", str(path), "--start", "now"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=os.setsid)
        self.info = json.loads(self.process.stdout.readline())
        self.url, self.base = self.info["url"], self.info["base"]

    def get(self, name):
        with urllib.request.urlopen(f"{self.base}/{name}", timeout=20) as answer:
            return json.load(answer)

    def expected(self):
        """The frames of all segments, in order."""
        return [
            Frame(segment["id"], number, segment["item"], segment["prog"], segment["pub_epoch"])
            for segment in self.get("_truth")["segs"] if segment["video"]
            for number in range(segment["f0"], segment["f1"])]

    def end(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


def frames(path):
    """The frames of a file as (time since the first, (program, number)); None in place of one that cannot be read."""
    import verify
    with tempfile.TemporaryDirectory() as directory:
        found, _, errors = verify.decode(str(path), directory, "v")
    start = min((time for time, _ in found if time is not None), default=0)
    return [(time - start, code and code[:2]) for time, code in found], errors


class Comparison:
    """The frames of a file against those of an origin, in order."""

    def __init__(self, observed, expected):
        places = collections.defaultdict(list)
        for index, frame in enumerate(expected):
            places[frame.program, frame.number].append(index)
        self.unreadable = sum(code is None for _, code in observed)
        self.foreign = self.repeated = self.disordered = 0
        self.times, self.expected = {}, expected
        next_place = 0
        for time, code in observed:
            if code is None:
                continue
            known = places.get(code)
            if not known:
                self.foreign += 1
                continue
            after = bisect.bisect_left(known, next_place)
            # Advertisements come again: of two places, the nearer one.
            near = known[max(0, after - 1):after + 1]
            place = min(near, key=lambda place: (place - next_place if place >= next_place else next_place - place + 0.5))
            if place in self.times:
                self.repeated += 1
            elif place < next_place:
                self.disordered += 1
            self.times[place] = time
            next_place = place + 1
        self.first, self.last = (min(self.times), max(self.times)) if self.times else (0, 0)

    def missing(self):
        """Spans of frames that are not in the file, between its first and its last: (place, count)."""
        spans = []
        for place in range(self.first, self.last):
            if place in self.times:
                continue
            if spans and sum(spans[-1]) == place:
                spans[-1] = (spans[-1][0], spans[-1][1] + 1)
            else:
                spans.append((place, 1))
        return spans

    def breaks(self, programs):
        """The times at which others than `programs` begin, and those at which these go on; None at the end of the file."""
        found, inside = [], False
        for place in sorted(self.times):
            is_break = self.expected[place].name not in programs
            if is_break != inside:
                if is_break:
                    found.append([self.times[place], None])
                else:
                    found[-1][1] = self.times[place]
                inside = is_break
        return found


def edit_list(path):
    """The breaks of an .edl."""
    if not path.exists():
        return []
    return [tuple(float(word) for word in line.split()[:2]) for line in path.read_text().splitlines() if line.endswith(" 3")]


def chapters(path):
    """The chapters of a file by ffprobe, as (start, title)."""
    text = subprocess.run(
        ["ffprobe", "-v", "error", "-show_chapters", "-of", "json", str(path)], capture_output=True, text=True, check=True)
    return [(float(found["start_time"]), found["tags"]["title"]) for found in json.loads(text.stdout)["chapters"]]

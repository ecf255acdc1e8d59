"""A day's worth of scrapes, made of a few minutes of them, as text that `promtool tsdb create-blocks-from` reads."""

import re

SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$")
# Gauges that move on with the clock, as counters do.
MOVING = {"liverelay_channel_uptime_seconds", "liverelay_channel_edge_timestamp_seconds"}
CUMULATIVE = ("_total", "_bucket", "_sum", "_count")


def parse(text):
    """The samples of one scrape: name and labels, and value."""
    target = 'job="liverelay",instance="day:8080"'
    samples = {("up", target): 1.0}
    for line in text.splitlines():
        if found := SAMPLE.match(line):
            name, labels, value = found.groups()
            labels = (labels or "{}")[1:-1]
            samples[name, f"{target},{labels}" if labels else target] = float(value)
    return samples


def is_cumulative(key):
    return key[0] in MOVING or key[0].endswith(CUMULATIVE)


class Phase:
    """Scrapes, one for each second, whose counters begin at 0 and never go back."""

    def __init__(self, scrapes):
        self.scrapes, self.counted = [], []
        before, sums = dict(scrapes[0]), {}
        for scrape in scrapes:
            for key in filter(is_cumulative, scrape):
                value, last = scrape[key], before.get(key, 0)
                # A run that was started anew counts from 0.
                sums[key] = sums.get(key, 0) + (value - last if value >= last else value)
                before[key] = value
            self.scrapes.append({key: value for key, value in scrape.items() if not is_cumulative(key)})
            self.counted.append(dict(sums))


class Day:
    """Repeats phases of real scrapes. Counters go on where the phase before has left them."""

    def __init__(self, types):
        self.types = types  # the TYPE lines of a scrape
        self.totals = {}

    def samples(self, phase, number):
        counted = phase.counted[number]
        yield from phase.scrapes[number].items()
        for key in {*counted, *self.totals}:
            yield key, self.totals.get(key, 0) + counted.get(key, 0)

    def write(self, file, phases, start, end, step):
        """Writes a scrape for each step. `phases`: called with the time, returns the phase that begins then. Returns the
        number of samples."""
        families, position = {}, 0
        phase = phases(start)
        for time in range(start, end, step):
            while position >= len(phase.scrapes):
                position -= len(phase.scrapes)
                for key, count in phase.counted[-1].items():
                    self.totals[key] = self.totals.get(key, 0) + count
                phase = phases(time)
            for key, value in self.samples(phase, position):
                families.setdefault(key, []).append((time, value))
            position += step
        # All samples of a series together, and all series of a name.
        for line in self.types:
            file.write(line + "\n")
        for (name, labels), points in sorted(families.items()):
            file.writelines(f"{name}{{{labels}}} {value:.17g} {time}\n" for time, value in points)
        file.write("# EOF\n")
        return sum(len(points) for points in families.values())

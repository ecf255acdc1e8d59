// A channel's timeline, read from the media playlists that liverelay writes.

export const attributes = (text) =>
  Object.fromEntries([...text.matchAll(/([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g)].map((m) => [m[1], m[2] ?? m[3]]));

/** A playlist's segments and date ranges, in order. */
export function parse(text) {
  const list = { target: 2, segments: [], ranges: [], ended: false };
  let number = 0, map = "", next = {};
  for (const line of text.split(/\r?\n/)) {
    const [, tag, value = ""] = line.match(/^#(EXT[A-Z0-9-]+):?(.*)$/) ?? [];
    if (tag === "EXT-X-TARGETDURATION") list.target = Number(value);
    else if (tag === "EXT-X-MEDIA-SEQUENCE") number = Number(value);
    else if (tag === "EXT-X-MAP") map = attributes(value).URI;
    else if (tag === "EXT-X-DISCONTINUITY") next.discontinuity = true;
    else if (tag === "EXT-X-GAP") next.gap = true;
    else if (tag === "EXT-X-PROGRAM-DATE-TIME") next.date = Date.parse(value) / 1000;
    else if (tag === "EXT-X-DATERANGE") list.ranges.push(attributes(value));
    else if (tag === "EXT-X-ENDLIST") list.ended = true;
    else if (tag === "EXTINF") next.duration = parseFloat(value);
    else if (line && line[0] !== "#") {
      list.segments.push({ ...next, number: number++, uri: line, map });
      next = {};
    }
  }
  return list;
}

const HOLE = 10; // seconds between dates in which nothing was published

/** What can be watched. Positions are seconds on an axis of the timeline's own, on which dates go on over holes. */
export class Timeline {
  segments = [];
  ranges = new Map();
  target = 2;
  ended = false;
  found = []; // ad breaks that nobody signals, as in /breaks.json
  placed = undefined; // all ad breaks by their positions; none if something has changed

  get start() { return this.segments[0]?.at ?? 0; }
  get end() { const last = this.segments.at(-1); return last ? last.at + last.duration : 0; }

  /** Adds what is new in a playlist. "missed": segments before it are unknown; "reset": it is another timeline. */
  update(list) {
    const last = this.segments.at(-1), first = list.segments[0], newest = list.segments.at(-1);
    if (!first) return "same";
    const known = last && list.segments.find((segment) => this.find(segment.number));
    const isOther = last && (known ? this.find(known.number).uri !== known.uri : newest.number < last.number);
    if (isOther) return "reset";
    if (last && first.number > last.number + 1) return "missed";
    Object.assign(this, { target: list.target, ended: list.ended, placed: undefined });
    for (const range of list.ranges) this.ranges.set(range.ID, { ...this.ranges.get(range.ID), ...range });
    const before = this.segments.length;
    for (const segment of list.segments) {
      if (last && segment.number <= last.number) continue;
      this.segments.push({ ...segment, at: this.end + this.missing(segment) });
      if (!segment.gap) this.grewAt = performance.now();
    }
    return this.segments.length === before ? "same" : "grown";
  }

  /** Seconds in which nothing was published before a new segment. */
  missing({ date }) {
    const last = this.segments.at(-1), missing = last ? date - last.date - last.duration : 0;
    return missing > HOLE ? missing : 0;
  }

  /** Removes what has left the rewind. */
  trim(firstNumber) {
    this.placed = undefined;
    while (this.segments.length > 1 && this.segments[0].number < firstNumber) this.segments.shift();
  }

  /** Seconds since media was listed; gaps are none. */
  get silence() { return this.grewAt === undefined ? 0 : (performance.now() - this.grewAt) / 1000; }

  /** Whether the newest media is older than that of a live channel may be. */
  get isStale() { return this.silence > Math.max(5, 3 * this.target); }

  find(number) { return this.segments[number - this.segments[0]?.number]; }

  /** The segment at a position; the first or last one if it is outside. */
  at(position) {
    let low = 0, high = this.segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.segments[middle].at <= position) low = middle; else high = middle - 1;
    }
    return this.segments[low];
  }

  /** The date of a position, in seconds since 1970. */
  date(position) {
    const segment = this.at(position);
    return segment?.date === undefined ? undefined : segment.date + position - segment.at;
  }

  /** The position of a date, not necessarily inside the window. */
  position(date) {
    let found = this.segments[0];
    for (const segment of this.segments) if (segment.date <= date) found = segment;
    return found && found.at + date - found.date;
  }

  /** Ad breaks as spans of positions: of the kind "break" if they are signalled, else "found". One without an end lasts until now. */
  get breaks() {
    this.placed ??= [...this.signalled, ...this.found.map(({ start, end }) => ({
      kind: "found", start: this.position(Date.parse(start) / 1000), end: end ? this.position(Date.parse(end) / 1000) : this.end,
    }))].filter((span) => span.end > this.start && span.start < this.end && span.end > span.start)
      .sort((a, b) => a.start - b.start);
    return this.placed;
  }

  /** Takes the breaks of /breaks.json, of which playlists list those that are signalled. */
  set adBreaks(breaks) {
    this.found = breaks.filter(({ evidence }) => evidence !== "signalled");
    this.placed = undefined;
  }

  get signalled() {
    return [...this.ranges.values()].filter((range) => "SCTE35-OUT" in range || range.ID?.startsWith("cue-"))
      .map((range) => {
        const begin = Date.parse(range["START-DATE"]) / 1000;
        const length = Number(range.DURATION ?? range["PLANNED-DURATION"]);
        const end = range["END-DATE"] ? Date.parse(range["END-DATE"]) / 1000 : begin + length;
        const start = this.position(begin);
        return { kind: "break", start, end: Number.isFinite(end) ? Math.min(start + end - begin, this.end) : this.end };
      });
  }

  isInBreak(position) { return this.breaks.some((span) => span.start <= position && position < span.end); }

  /** Spans without media. */
  get gaps() {
    const spans = [];
    for (const { gap, at, duration } of this.segments) {
      if (!gap) continue;
      if (spans.at(-1)?.end === at) spans.at(-1).end = at + duration; else spans.push({ start: at, end: at + duration });
    }
    return spans;
  }

  /** Spans of dates in which nothing was published: between runs of liverelay, or where the channel's clock was set. */
  get holes() {
    const absences = [...this.ranges.values()].filter((range) => range.CLASS === "liverelay.absence")
      .map((range) => Date.parse(range["START-DATE"]) / 1000);
    return this.segments.flatMap(({ at }, i) => {
      const last = this.segments[i - 1], start = last ? last.at + last.duration : at;
      if (at - start < HOLE) return [];
      return [{ start, end: at, isAbsence: absences.some((date) => Math.abs(date - last.date - last.duration) < 1) }];
    });
  }

  /** The first position from one on at which there is media; the one itself if there is none. */
  playable(position) {
    const blank = this.blank(position);
    return blank && blank.end < this.end ? blank.end : position;
  }

  /** The position that is some seconds of media away: what a gap or hole lacks is passed. */
  moved(position, seconds) {
    const wanted = position + seconds, blank = this.blank(wanted);
    if (!blank) return wanted;
    return Math.max(this.start, seconds > 0 ? blank.end + wanted - blank.start : blank.start - (blank.end - wanted));
  }

  /** The gap or hole at a position. */
  blank(position) { return [...this.gaps, ...this.holes].find(({ start, end }) => start <= position && position < end); }

  /** The number of periods of which something is there. */
  get periods() { return this.segments.length && 1 + this.discontinuities.filter((at) => at > this.start).length; }

  /** Where periods begin. */
  get discontinuities() { return this.segments.filter((segment) => segment.discontinuity).map((segment) => segment.at); }
}

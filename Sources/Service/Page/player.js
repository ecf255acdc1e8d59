// Plays a channel's rewind window: MediaSource fed with the fragments as they are, or the browser's own HLS in Safari.
// It relies on what liverelay publishes: one continuous clock, and an init section for every period.
import { Timeline, parse } from "./playlist.js";

const AHEAD = 20, BEHIND = 30; // seconds of media that are kept around the playhead
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const Source = self.ManagedMediaSource ?? self.MediaSource;

/** The boxes of a kind on a path such as "moof.traf.tfdt", as views of their content. */
function boxes(view, path) {
  const [kind, rest] = path.split(/\.(.*)/), found = [];
  for (let at = 0; at + 8 <= view.byteLength;) {
    const size = view.getUint32(at) || view.byteLength - at;
    const name = String.fromCharCode(...[4, 5, 6, 7].map((i) => view.getUint8(at + i)));
    if (size < 8 || at + size > view.byteLength) break;
    const content = new DataView(view.buffer, view.byteOffset + at + 8, size - 8);
    if (name === kind) found.push(...(rest ? boxes(content, rest) : [content]));
    at += size;
  }
  return found;
}

/** The time scale of the first track, and the names of the tracks' sample entries: avc1, hvc1, mp4a, … */
function describe(init) {
  const [media] = boxes(init, "moov.trak.mdia.mdhd");
  const entries = boxes(init, "moov.trak.mdia.minf.stbl.stsd").map((entry) =>
    String.fromCharCode(...[12, 13, 14, 15].map((i) => entry.getUint8(i))));
  return { scale: media.getUint32(media.getUint8(0) ? 20 : 12), entries };
}

/** The decode time at which a fragment begins, in seconds. */
function decodeTime(segment, scale) {
  const [time] = boxes(segment, "moof.traf.tfdt");
  return Number(time.getUint8(0) ? time.getBigUint64(4) : time.getUint32(4)) / scale;
}

export class Player extends EventTarget {
  timeline = new Timeline();
  anchors = []; // where appended segments are: on the timeline, and on the clock of the media
  inits = new Map();

  constructor(video, base = "", query = "") {
    super();
    Object.assign(this, { video, base, query }); // the query of the first playlists; they name the others
    // Safari's own HLS rewinds, and saves power; only WebKit has this property.
    this.isNative = "webkitCurrentPlaybackTargetIsWireless" in video
      && video.canPlayType("application/vnd.apple.mpegurl") !== "";
  }

  /** Whether this browser can play at all. */
  get isSupported() { return this.isNative || Source !== undefined; }

  /** Loads the window, without playing it. */
  async load() {
    const list = await this.playlist("dvr.m3u8");
    this.timeline = new Timeline();
    this.timeline.update(list);
    this.changed();
  }

  /** Plays from the live edge, and follows the playlist from then on. */
  async open() {
    await this.load();
    await this.attach();
    this.follow();
    this.goLive();
    this.timer ??= setInterval(() => this.skipGap(), 250);
  }

  async attach() {
    Object.assign(this, { anchors: [], isLost: false });
    const { paused } = this.video; // another source pauses it
    if (this.isNative) {
      this.video.src = `${this.base}dvr.m3u8${this.query}`;
      await new Promise((resolve) => this.video.addEventListener("loadedmetadata", resolve, { once: true }));
      return;
    }
    const codecs = (await (await this.fetch(`master.m3u8${this.query}`)).text()).match(/CODECS="([^"]*)"/)?.[1] ?? "";
    this.codecs = codecs.split(",");
    this.source = new Source();
    this.buffer = this.map = this.kinds = undefined;
    this.video.disableRemotePlayback = true; // ManagedMediaSource asks for it
    this.video.src = URL.createObjectURL(this.source);
    await new Promise((resolve) => this.source.addEventListener("sourceopen", resolve, { once: true }));
    URL.revokeObjectURL(this.video.src);
    this.source.duration = Infinity;
    if (!paused) this.video.play().catch(() => {});
  }

  // MARK: Positions

  /** The position that is shown, on the timeline's axis. */
  get position() {
    if (this.pending !== undefined) return this.pending;
    const time = this.video.currentTime;
    if (this.isNative) {
      const start = this.video.getStartDate?.().getTime();
      if (start > 0) return this.timeline.position(start / 1000 + time);
      return this.timeline.start + time - (this.video.seekable.length ? this.video.seekable.start(0) : 0);
    }
    const anchor = this.anchors.findLast((known) => known.time <= time + 0.5) ?? this.anchors[0];
    return anchor ? anchor.at + time - anchor.time : this.livePosition;
  }

  /** Where the live edge can be watched without stalls: three target durations before the newest media. */
  get livePosition() {
    const last = this.timeline.segments.findLast(({ gap }) => !gap);
    return last ? this.timeline.at(last.at + last.duration - 3 * this.timeline.target).at : this.timeline.start;
  }

  get isLive() { return this.position > this.livePosition - 2 * this.timeline.target; }
  goLive() { this.seek(this.livePosition); }

  seek(wanted) {
    const position = Math.max(this.timeline.start, Math.min(wanted, this.livePosition));
    if (this.isNative) {
      this.video.currentTime += position - this.position;
    } else {
      const time = this.time(position);
      if (time !== undefined && this.isBuffered(time)) {
        this.pending = undefined;
        this.video.currentTime = time;
      } else {
        this.pending = position;
        this.feed();
      }
    }
    this.changed();
  }

  /** The time on the media's clock at a position, as near as it is known. */
  time(position) {
    const anchor = this.anchors.findLast((known) => known.at <= position) ?? this.anchors[0];
    return anchor && anchor.time + position - anchor.at;
  }

  // MARK: Playlists

  async fetch(name, signal) {
    const answer = await fetch(this.base + name, { signal, cache: name.includes(".m3u8") ? "no-cache" : "default" });
    if (answer.ok) return answer;
    throw new Error(answer.headers.get("X-Liverelay-Reason") ?? `${name}: HTTP ${answer.status}`);
  }

  async playlist(name) { return parse(await (await this.fetch(name + this.query)).text()); }

  /** Loads the live playlist for as long as the page is open. */
  async follow() {
    const turn = this.turn = {};
    while (turn === this.turn) {
      await sleep(Math.max(1, this.timeline.target / 2));
      try {
        let result = this.isLost ? "reset" : this.timeline.update(await this.playlist("live.m3u8"));
        if (result === "missed") result = this.timeline.update(await this.playlist("dvr.m3u8"));
        this.isLost = result === "missed" || result === "reset";
        if (this.isLost) await this.restart();
        this.report(undefined);
      } catch (error) { this.report(error); }
      this.changed();
    }
  }

  /** Begins anew at the live edge, where the media does not continue what is known. If that fails, it is tried again. */
  async restart() {
    this.session?.abort.abort();
    this.session = undefined;
    await this.open();
  }

  // MARK: MediaSource

  isBuffered(time) {
    const ranges = this.buffer?.buffered ?? [];
    for (let i = 0; i < ranges.length; i++) if (ranges.start(i) <= time && time < ranges.end(i)) return true;
    return false;
  }

  /** Seconds of media after the playhead. */
  get ahead() {
    const ranges = this.video.buffered, time = this.video.currentTime;
    for (let i = 0; i < ranges.length; i++) {
      if (ranges.start(i) <= time + 0.5 && time < ranges.end(i)) return ranges.end(i) - time;
    }
    return 0;
  }

  /** Fetches and appends segments from the pending position on, until the next seek outside of the buffer. */
  async feed() {
    this.session?.abort.abort();
    const session = this.session = { abort: new AbortController(), failures: 0 };
    session.next = this.timeline.at(this.pending)?.number;
    if (this.buffer) await this.change(() => this.buffer.remove(0, Infinity)).catch(() => {});
    this.anchors = [];
    while (session === this.session) {
      const segment = this.dueSegment(session);
      try {
        if (!segment) await sleep(0.25);
        else if (await this.append(segment, session)) Object.assign(session, { next: segment.number + 1, failures: 0 });
      } catch (error) {
        if (session !== this.session) return;
        await this.recover(error, session);
      }
    }
  }

  /** The segment to append next; undefined while enough is buffered, or nothing more is listed. */
  dueSegment(session) {
    if (this.pending === undefined && (this.ahead > AHEAD || this.source.streaming === false)) return undefined;
    session.next = Math.max(session.next, this.timeline.segments[0]?.number);
    let segment = this.timeline.find(session.next);
    while (segment?.gap) segment = this.timeline.find(++session.next);
    return segment;
  }

  async append(segment, session) {
    const bytes = async (name) => new DataView(await (await this.fetch(name, session.abort.signal)).arrayBuffer());
    if (!this.inits.has(segment.map)) this.inits.set(segment.map, await bytes(segment.map));
    const init = this.inits.get(segment.map), media = await bytes(segment.uri);
    if (session !== this.session) return false;
    const { scale, entries } = describe(init);
    if (this.map !== segment.map) {
      this.prepare(entries);
      await this.change(() => this.buffer.appendBuffer(init));
      this.map = segment.map;
    }
    await this.change(() => this.buffer.appendBuffer(media));
    const anchor = { at: segment.at, time: decodeTime(media, scale) };
    this.anchors.push(anchor);
    if (this.pending !== undefined && session === this.session) this.showPending(anchor);
    const old = this.video.currentTime - BEHIND;
    const ranges = this.buffer.buffered;
    if (ranges.length && ranges.start(0) < old - 10) await this.change(() => this.buffer.remove(0, old));
    return true;
  }

  /** Moves the playhead to the position that was asked for, once its segment is there. */
  showPending(anchor) {
    const ranges = this.buffer.buffered;
    if (!ranges.length) return;
    const wanted = anchor.time + Math.max(0, this.pending - anchor.at);
    this.video.currentTime = Math.min(Math.max(wanted, ranges.start(0) + 0.01), ranges.end(ranges.length - 1) - 0.1);
    this.pending = undefined;
    this.changed();
  }

  /** Makes the buffer fit the tracks of an init section. */
  prepare(entries) {
    const kinds = entries.map((entry) => this.codecs.find((codec) => codec.startsWith(entry)) ?? entry).join(",");
    const type = `${entries.some((entry) => /^(avc|hvc|hev|av01|vp)/.test(entry)) ? "video" : "audio"}/mp4; codecs="${kinds}"`;
    if (!this.buffer) this.buffer = this.source.addSourceBuffer(type);
    else if (this.kinds !== entries.join()) this.buffer.changeType(type);
    this.kinds = entries.join();
  }

  /** Performs a change of the buffer and waits for its end. */
  change(action) {
    const buffer = this.buffer;
    return new Promise((resolve, reject) => {
      buffer.addEventListener("updateend", resolve, { once: true });
      buffer.addEventListener("error", () => reject(this.video.error ?? new Error("the media cannot be decoded")), { once: true });
      try { action(); } catch (error) { reject(error); }
    });
  }

  /** After a failed segment: tries again, then passes it over; a broken decoder gets a new MediaSource. */
  async recover(error, session) {
    session.failures++;
    if (error.name === "QuotaExceededError") {
      await this.change(() => this.buffer.remove(0, Math.max(0.1, this.video.currentTime - 5))).catch(() => {});
    } else if (this.video.error || this.source.readyState !== "open") {
      const position = this.position + 1; // past what cannot be decoded
      await sleep(1);
      await this.attach();
      this.pending = position;
      this.feed();
      return;
    } else if (session.failures % 3 === 0) {
      session.next++;
    }
    this.report(error);
    await sleep(Math.min(4, session.failures / 2));
  }

  /** Moves on where the playhead waits for media that does not come, because a gap is listed there. */
  skipGap() {
    if (this.isNative || this.video.paused || this.pending !== undefined || this.ahead > 0.1) return;
    const ranges = this.video.buffered;
    for (let i = 0; i < ranges.length; i++) {
      if (ranges.start(i) > this.video.currentTime) return void (this.video.currentTime = ranges.start(i) + 0.01);
    }
  }

  changed() { this.dispatchEvent(new Event("change")); }

  /** Tells the page of an error, or that the last one is over. */
  report(error) {
    this.error = error?.message;
    this.changed();
  }
}

// Plays a channel's rewind window: MediaSource fed with the fragments as they are, or the browser's own HLS in Safari.
// It relies on what liverelay publishes: one continuous clock, and an init section for every period.
import { Playhead } from "./playhead.js";
import { Timeline, parse } from "./playlist.js";
import { Track, parseMaster } from "./track.js";

const AHEAD = 20, BEHIND = 30; // seconds of media that are kept around the playhead
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const Source = self.ManagedMediaSource ?? self.MediaSource;

export class Player extends EventTarget {
  timeline = new Timeline();
  anchors = []; // where appended segments are: on the timeline, and on the clock of the media
  tracks = []; // one with video and audio, or one of each
  audio = ""; // the rendition that was chosen; none for the audio of the segments
  renditions = [];
  level = ""; // the variant that was chosen; none for the leading one
  variants = [];
  range = ""; // the query of what is shown of the rewind; none for all of it
  isPast = false; // whether that is a part which is over

  constructor(video, base = "", query = "") {
    super();
    Object.assign(this, { video, base, query, playhead: new Playhead(video) }); // the query of the first playlists; they name the others
    // Safari's own HLS rewinds, and saves power; only WebKit has this property.
    this.isNative = "webkitCurrentPlaybackTargetIsWireless" in video
      && video.canPlayType("application/vnd.apple.mpegurl") !== "";
  }

  /** Whether this browser can play at all. */
  get isSupported() { return this.isNative || Source !== undefined; }

  get rewind() { return `dvr.m3u8${this.range}`; }
  /** Shows another part of the rewind, from its start; if it reaches to now, from the live edge. */
  async show(range, isPast) {
    Object.assign(this, { range, isPast });
    const isOpen = this.turn !== undefined;
    await this.load();
    if (!isOpen) return;
    const position = isPast ? this.timeline.start : this.livePosition;
    if (!this.isNative) return this.reopen(position);
    await this.attach();
    this.seek(position);
  }

  /** Loads the window, without playing it. */
  async load() {
    const list = await this.playlist(this.rewind);
    this.timeline = new Timeline();
    this.timeline.update(list);
    this.changed();
  }

  /** Plays from the live edge, and follows the playlist from then on. */
  async open() {
    await this.load();
    await this.attach();
    this.follow();
    this.seek(this.isPast ? this.timeline.start : this.livePosition);
    this.timer ??= setInterval(() => this.watch(), 250);
  }

  async attach() {
    Object.assign(this, { anchors: [], isLost: false });
    const { paused } = this.video; // another source pauses it
    if (this.isNative) {
      this.video.src = this.base + this.withToken(this.rewind);
      await new Promise((resolve) => this.video.addEventListener("loadedmetadata", resolve, { once: true }));
      return;
    }
    const { variants, audio } = parseMaster(await (await this.fetch(`master.m3u8${this.query}`)).text());
    Object.assign(this, { variants, renditions: audio });
    if (!audio.some(({ URI }) => URI === this.audio)) this.audio = "";
    const chosen = variants.find(({ URI }) => URI === this.level);
    if (!chosen) this.level = "";
    const names = this.level || this.audio ? [this.level || "video.m3u8", this.audio || audio[0]?.URI].filter(Boolean) : [undefined];
    this.tracks = names.map((name) => new Track(this, (chosen ?? variants[0])?.codecs ?? [], name));
    this.source = new Source();
    this.video.disableRemotePlayback = true; // ManagedMediaSource asks for it
    this.video.src = URL.createObjectURL(this.source);
    await new Promise((resolve) => this.source.addEventListener("sourceopen", resolve, { once: true }));
    URL.revokeObjectURL(this.video.src);
    this.source.duration = Infinity;
    if (!paused) this.video.play().catch(() => {});
  }

  /** Plays another audio rendition from here on; "" is the audio of the segments. */
  chooseAudio(audio) { return this.choose({ audio, level: this.level }); }

  /** Plays another variant from here on; "" is the leading one. */
  chooseLevel(level) { return this.choose({ audio: this.audio, level }); }

  async choose({ audio, level }) {
    if (this.isNative || audio === this.audio && level === this.level) return;
    const { position } = this;
    Object.assign(this, { audio, level });
    await this.reopen(position);
  }

  /** Gets a new MediaSource, and goes on at a position. */
  async reopen(position) {
    this.session?.abort.abort();
    this.session = undefined;
    await this.attach();
    this.pending = position;
    this.feed();
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
    if (this.isPast) return this.timeline.end - 1;
    const last = this.timeline.segments.findLast(({ gap }) => !gap);
    return last ? this.timeline.at(last.at + last.duration - 3 * this.timeline.target).at : this.timeline.start;
  }

  get isLive() {
    const { timeline, playhead } = this;
    return !this.isPast && !timeline.isStale && playhead.stalledFor < 2000 && this.position > this.livePosition - 2 * timeline.target;
  }

  goLive() { this.seek(this.livePosition); }
  seek(wanted) {
    const position = Math.max(this.timeline.start, Math.min(this.timeline.playable(wanted), this.livePosition));
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

  move(seconds) { this.seek(this.timeline.moved(this.position, seconds)); }

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

  withToken(name) { return name + (name.includes("?") ? this.query.replace("?", "&") : this.query); }

  async playlist(name) { return parse(await (await this.fetch(this.withToken(name))).text()); }

  /** Loads the live playlist for as long as the page is open. */
  async follow() {
    const turn = this.turn = {};
    while (turn === this.turn) {
      await sleep(Math.max(1, this.timeline.target / 2));
      if (this.isPast) continue;
      try {
        let result = this.isLost ? "reset" : this.timeline.update(await this.playlist("live.m3u8"));
        if (result === "missed") result = this.timeline.update(await this.playlist(this.rewind));
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
    return this.tracks.every(({ ranges }) => ranges.some(([start, end]) => start <= time && time < end));
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
    await this.remove(0, Infinity);
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
    const { tracks } = this;
    const parts = await Promise.all(tracks.map((track) => track.load(segment, session.abort.signal)));
    if (session !== this.session) return false;
    // A track that lacks this segment does not begin its source: the others wait for its first one.
    const times = await Promise.all(tracks.map((track, i) => parts[i] && track.append(parts[i])));
    if (times[0] === undefined) return true;
    const anchor = { at: segment.at, time: times[0] };
    this.anchors.push(anchor);
    if (this.pending !== undefined && session === this.session) this.showPending(anchor);
    const old = this.video.currentTime - BEHIND;
    if (tracks.some(({ ranges }) => ranges.length > 0 && ranges[0][0] < old - 10)) await this.remove(0, old);
    return true;
  }

  remove(from, to) { return Promise.all(this.tracks.map((track) => track.remove(from, to).catch(() => {}))); }

  /** Moves the playhead to the position that was asked for, once its segment is there. */
  showPending(anchor) {
    const ranges = this.tracks.map((track) => track.ranges);
    if (ranges.some(({ length }) => length === 0)) return;
    const wanted = anchor.time + Math.max(0, this.pending - anchor.at);
    const first = Math.max(...ranges.map((pairs) => pairs[0][0])), last = Math.min(...ranges.map((pairs) => pairs.at(-1)[1]));
    this.video.currentTime = Math.min(Math.max(wanted, first + 0.01), last - 0.1);
    this.pending = undefined;
    this.changed();
  }

  /** After a failed segment: tries again, then passes it over; a broken decoder gets a new MediaSource. */
  async recover(error, session) {
    session.failures++;
    if (error.name === "QuotaExceededError") {
      await this.remove(0, Math.max(0.1, this.video.currentTime - 5));
    } else if (this.video.error || this.source.readyState !== "open") {
      const position = this.position + 1; // past what cannot be decoded
      await sleep(1);
      return this.reopen(position);
    } else if (session.failures % 3 === 0) {
      session.next++;
    }
    this.report(error);
    await sleep(Math.min(4, session.failures / 2));
  }

  /** Looks after the playhead, and tells the page when it is live no more, or again. */
  watch() {
    this.playhead.check(this.pending !== undefined, !this.isNative);
    if (this.isLive === this.wasLive) return;
    this.wasLive = this.isLive;
    this.changed();
  }

  changed() { this.dispatchEvent(new Event("change")); }

  /** Tells the page of an error, or that the last one is over. */
  report(error) {
    this.error = error?.message;
    this.changed();
  }
}

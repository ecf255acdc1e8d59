// Shows a channel's subtitles: text tracks of the video, filled with the WebVTT segments around the playhead.
// liverelay writes the times of cues on the clock of the media, so nothing is converted.
import { attributes } from "./playlist.js";

const AHEAD = 20, BEHIND = 10; // seconds around the playhead

const seconds = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

/** The cues of a WebVTT file. Styles and regions are passed over. */
export function parseCues(text) {
  return text.replace(/\r\n?/g, "\n").split(/\n\n+/).flatMap((block) => {
    const [, start, end, settings, payload] = block.match(/^(?:.*\n)?([\d:.]+)[ \t]+-->[ \t]+([\d:.]+)(.*)\n([^]*)$/) ?? [];
    return payload ? [{ start: seconds(start), end: seconds(end), settings, text: payload.trimEnd() }] : [];
  });
}

function makeCue({ start, end, settings, text }) {
  const cue = new VTTCue(start, end, text);
  for (const [, name, value] of settings.matchAll(/(align|line|position|size|vertical):(\S+)/g)) {
    try { // A value that is none is refused.
      if (name === "line") cue.snapToLines = !value.includes("%");
      cue[name] = name === "align" || name === "vertical" ? value : parseFloat(value);
    } catch { /* the default */ }
  }
  return cue;
}

export class Subtitles {
  tracks = new Map(); // by the URI of the rendition; in Safari by its number
  chosen = "";

  /** @param select lists the renditions; its parent is hidden if there is none */
  constructor(player, select) {
    Object.assign(this, { player, select });
    select.addEventListener("change", () => this.choose(select.value));
    player.video.textTracks.addEventListener?.("addtrack", () => { if (player.isNative) this.listNative(); });
  }

  /** Lists the channel's renditions, and chooses the one that is meant to be shown. */
  async load() {
    if (this.player.isNative) return this.listNative();
    const master = await (await this.player.fetch(`master.m3u8${this.player.query}`)).text();
    const found = [...master.matchAll(/^#EXT-X-MEDIA:(.*TYPE=SUBTITLES.*)$/gm)].map((line) => attributes(line[1]));
    for (const rendition of found) rendition.URI = rendition.URI.replace(/\?.*/, ""); // the player adds the query
    this.renditions = new Map(found.map((rendition) => [rendition.URI, rendition]));
    this.list(found.map(({ URI, NAME }) => [URI, NAME]), found.find(({ DEFAULT }) => DEFAULT === "YES")?.URI);
    this.timer ??= setInterval(() => this.fill(), 500);
  }

  listNative() {
    const tracks = [...this.player.video.textTracks].filter(({ kind }) => kind === "subtitles" || kind === "captions");
    this.tracks = new Map(tracks.map((track, i) => [String(i), track]));
    this.list(tracks.map((track, i) => [String(i), track.label || track.language]));
  }

  list(rows, preferred) {
    const known = rows.map(([value]) => value).join();
    if (known === this.known) return;
    this.known = known;
    this.select.replaceChildren(...[["", "Off"], ...rows].map(([value, text]) => new Option(text, value)));
    this.select.parentElement.hidden = rows.length === 0;
    this.choose(rows.some(([value]) => value === this.chosen) && this.chosen || preferred || "");
  }

  /** Shows a rendition; none for "". */
  choose(value) {
    const { video } = this.player;
    this.chosen = this.select.value = value;
    if (value && !this.tracks.has(value)) {
      const { NAME, LANGUAGE } = this.renditions.get(value);
      this.tracks.set(value, video.addTextTrack("subtitles", NAME, LANGUAGE ?? ""));
    }
    for (const [key, track] of this.tracks) track.mode = key === value ? "showing" : "hidden";
    if (this.player.isNative) return;
    this.clear();
    this.fill();
  }

  /** Off, or on again. */
  toggle() {
    const values = [...this.select.options].map((option) => option.value);
    if (values.length > 1) this.choose(this.chosen ? "" : this.before ?? values[1]);
    if (this.chosen) this.before = this.chosen;
  }

  clear() {
    for (const track of this.tracks.values()) for (const cue of [...track.cues ?? []]) track.removeCue(cue);
    Object.assign(this, { done: new Set(), uris: new Map(), timeline: this.player.timeline, loadedAt: 0 });
  }

  /** Adds the cues around the playhead, and removes others. */
  async fill() {
    const { chosen, player } = this;
    if (!chosen || this.isFilling || player.anchors.length === 0) return;
    this.isFilling = true;
    try {
      if (this.timeline !== player.timeline) this.clear(); // the channel began anew
      const wanted = this.segments.filter(({ number }) => !this.done.has(number));
      if (wanted.some(({ number }) => !this.uris.has(number))) await this.loadPlaylist(wanted[0].number);
      for (const { number } of wanted.filter((segment) => this.uris.has(segment.number))) {
        const text = await (await player.fetch(this.uris.get(number))).text();
        if (chosen !== this.chosen || this.timeline !== player.timeline) return;
        this.done.add(number);
        this.add(parseCues(text));
      }
      this.removeOld();
    } catch { /* tried again */ } finally { this.isFilling = false; }
  }

  /** The segments around the playhead. */
  get segments() {
    const { timeline, position } = this.player, found = [];
    let segment = timeline.at(position - BEHIND);
    for (; segment && segment.at < position + AHEAD; segment = timeline.find(segment.number + 1)) found.push(segment);
    return found;
  }

  /** Learns the URIs of a rendition's segments, which may be listed later than those of the video. */
  async loadPlaylist(first) {
    const now = performance.now() / 1000, { chosen, player } = this;
    if (now - this.loadedAt < player.timeline.target / 2) return;
    this.loadedAt = now;
    let list = await player.playlist(chosen);
    if (first < list.segments[0]?.number) list = await player.playlist(`dvr-${chosen}`);
    if (chosen !== this.chosen) return;
    const last = list.segments.at(-1)?.number ?? -1;
    this.uris = new Map(list.segments.map(({ number, uri }) => [number, uri]));
    for (const { number } of this.segments) if (number < last && !this.uris.has(number)) this.done.add(number); // has none
  }

  add(cues) {
    const track = this.tracks.get(this.chosen);
    const key = ({ start, startTime = start, end, endTime = end, text }) => `${startTime} ${endTime} ${text}`;
    const known = new Set([...track.cues].map(key)); // a cue stands in each segment that it overlaps
    for (const cue of cues) if (!known.has(key(cue))) track.addCue(makeCue(cue));
  }

  removeOld() {
    const track = this.tracks.get(this.chosen), { currentTime } = this.player.video, numbers = new Set(this.segments.map(({ number }) => number));
    for (const number of this.done) if (!numbers.has(number)) this.done.delete(number);
    for (const cue of [...track.cues]) {
      if (cue.endTime < currentTime - 2 * BEHIND || cue.startTime > currentTime + 2 * AHEAD) track.removeCue(cue);
    }
  }
}

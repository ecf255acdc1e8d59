// One SourceBuffer, and what is appended to it: the segments of the channel with video and audio, or of one rendition.
import { attributes } from "./playlist.js";

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

/** What a master playlist says: its variants, the leading one first, with their codecs, and its audio renditions. */
export function parseMaster(text) {
  const audio = [...text.matchAll(/^#EXT-X-MEDIA:(.*TYPE=AUDIO.*)$/gm)].map((line) => attributes(line[1]));
  const variants = [...text.matchAll(/^#EXT-X-STREAM-INF:(.*)\n(.*)$/gm)].map(([, list, URI]) => ({ ...attributes(list), URI }));
  for (const track of [...audio, ...variants]) track.URI = track.URI?.replace(/\?.*/, ""); // the player adds the query
  for (const variant of variants) variant.codecs = variant.CODECS?.split(",") ?? [];
  return { variants, audio };
}

export class Track {
  inits = new Map(); // by name
  segments = new Map(); // of the rendition, by number

  /** @param rendition the name of a playlist; without one the segments are those of the timeline */
  constructor(player, codecs, rendition) { Object.assign(this, { player, codecs, rendition }); }

  /** Seconds of the buffer, as pairs. */
  get ranges() {
    const ranges = this.buffer?.buffered ?? [];
    return Array.from({ length: ranges.length }, (_, i) => [ranges.start(i), ranges.end(i)]);
  }

  /** The init section and the media of a segment of the timeline; undefined where the rendition has a gap. */
  async load(segment, signal) {
    const { map, uri, gap } = this.rendition ? await this.find(segment.number) : segment;
    if (gap) return undefined;
    const bytes = async (name) => new DataView(await (await this.player.fetch(name, signal)).arrayBuffer());
    if (this.inits.size > 16) this.inits.clear(); // each period has one
    if (!this.inits.has(map)) this.inits.set(map, await bytes(map));
    const init = this.inits.get(map), media = await bytes(uri);
    return { map, init, media, ...describe(init) };
  }

  /** All playlists of a channel list the same numbers. */
  async find(number) {
    if (!this.segments.has(number)) {
      let list = await this.player.playlist(this.rendition);
      if (number < list.segments[0]?.number) list = await this.player.playlist(`dvr-${this.rendition}`);
      this.segments = new Map(list.segments.map((segment) => [segment.number, segment]));
    }
    const segment = this.segments.get(number);
    if (!segment) throw new Error(`${this.rendition} does not list segment ${number}`);
    return segment;
  }

  /** Appends what was loaded, and returns its decode time in seconds. */
  async append({ map, init, media, scale, entries }) {
    if (this.map !== map) {
      this.prepare(entries);
      await this.change((buffer) => buffer.appendBuffer(init));
      this.map = map;
    }
    await this.change((buffer) => buffer.appendBuffer(media));
    return decodeTime(media, scale);
  }

  /** Makes the buffer fit the tracks of an init section. */
  prepare(entries) {
    const kinds = entries.map((entry) => this.codecs.find((codec) => codec.startsWith(entry)) ?? entry).join(",");
    const type = `${entries.some((entry) => /^(avc|hvc|hev|av01|vp)/.test(entry)) ? "video" : "audio"}/mp4; codecs="${kinds}"`;
    if (!this.buffer) this.buffer = this.player.source.addSourceBuffer(type);
    else if (this.kinds !== entries.join()) this.buffer.changeType(type);
    this.kinds = entries.join();
  }

  async remove(from, to) { if (this.buffer) await this.change((buffer) => buffer.remove(from, to)); }

  /** Performs a change of the buffer and waits for its end. */
  change(action) {
    const { buffer, player } = this;
    return new Promise((resolve, reject) => {
      buffer.addEventListener("updateend", resolve, { once: true });
      buffer.addEventListener("error", () => reject(player.video.error ?? new Error("the media cannot be decoded")), { once: true });
      try { action(buffer); } catch (error) { reject(error); }
    });
  }
}

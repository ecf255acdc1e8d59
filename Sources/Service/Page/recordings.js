// The recordings: what is recorded now, what is planned, and what is done, with what can be done to each.
import { dialog, explain, request } from "./api.js";
import { dateAndTime, duration, element, get, query, root, timeOfDay } from "./words.js";

const sections = [["open", "Recording now"], ["planned", "Planned"], ["over", "Done"]];
const words = { planned: "Planned", recording: "Recording", paused: "Paused", finishing: "Being finished", done: "Done", failed: "Failed" };
const repeats = { daily: "each day", weekly: "each week", title: "each with this title" };
const kind = ({ state }) => state === "planned" ? "planned" : state === "done" || state === "failed" ? "over" : "open";
const size = (bytes) => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;

export class Recordings {
  rows = new Map(); // by ID

  constructor(panel, list) {
    Object.assign(this, { panel, list });
    this.note = element("p", { className: "hint", role: "status" }, "Loading …");
    this.lists = Object.fromEntries(sections.map(([name]) => [name, element("ul", { className: "recordings" })]));
    panel.append(this.note, ...sections.map(([name, title]) => element("div", { hidden: true }, element("h2", {}, title), this.lists[name])));
  }

  async update() {
    if (this.isLoading || Date.now() - (this.time ?? 0) < 2500) return;
    this.isLoading = true;
    try {
      const { recordings } = await get("recordings.json");
      this.time = Date.now();
      this.show(recordings);
    } catch { /* The head of the page says that the server does not answer. */ }
    this.isLoading = false;
  }

  reload() {
    this.time = 0;
    return this.update();
  }

  show(recordings) {
    const { hasRecordings, hasAPI } = this.list.features;
    const start = ({ start }) => Date.parse(start);
    for (const [name] of sections) {
      const shown = recordings.filter((one) => kind(one) === name).sort((a, b) => name === "planned" ? start(a) - start(b) : start(b) - start(a));
      const nodes = shown.map((one) => this.row(one)), box = this.lists[name];
      if (nodes.length !== box.children.length || nodes.some((node, i) => box.children[i] !== node)) box.replaceChildren(...nodes);
      box.parentNode.hidden = nodes.length === 0;
    }
    const known = new Set(recordings.map(({ id }) => id));
    for (const id of this.rows.keys()) if (!known.has(id)) this.rows.delete(id);
    const text = recordings.length > 0 ? "" : hasRecordings && hasAPI ? "Nothing is recorded. Record a program in the guide, or a channel on its page."
      : hasRecordings || hasAPI === undefined ? "Nothing is recorded." : "Nothing is recorded. The server records with --recordings and --api-token.";
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.hidden = !text;
  }

  /** The row of a recording; the same one while nothing of it changes but figures. */
  row(recording) {
    const key = JSON.stringify({ ...recording, bytes: 0, lostSeconds: Math.round(recording.lostSeconds), name: [recording.name, this.list.nameOf(recording.channel), this.list.features.hasAPI] });
    let known = this.rows.get(recording.id);
    if (known?.key !== key) {
      const focused = known?.node.contains(document.activeElement) ? [...known.node.querySelectorAll("a, button")].indexOf(document.activeElement) : -1;
      const made = this.makeRow(recording);
      if (focused >= 0) queueMicrotask(() => [...made.node.querySelectorAll("a, button")][focused]?.focus());
      known = { ...made, key };
      this.rows.set(recording.id, known);
    }
    const figures = this.figures(recording);
    if (known.figures.textContent !== figures) known.figures.textContent = figures;
    return known.node;
  }

  figures({ bytes, lostSeconds }) {
    return [bytes ? size(bytes) : "", lostSeconds >= 0.5 ? `${duration(lostSeconds)} missing` : ""].filter(Boolean).join(", ");
  }

  makeRow(recording) {
    const { id, channel, name, state, reason, start, end, repeat, keep, playlist, file } = recording;
    const [from, to] = [start, end].map((date) => date && Date.parse(date) / 1000), owner = this.list.nameOf(channel);
    const page = new URL(`${encodeURIComponent(channel)}/${query}#from=${from}${to ? `&to=${to}` : ""}`, root);
    const figures = element("span", { className: "figures" }), button = (text, action, what = text) => {
      const made = element("button", { type: "button", ariaLabel: `${what} ${name}` }, text);
      made.addEventListener("click", () => action.call(this, recording).catch(explain).then(() => this.reload()));
      return made;
    };
    const isOwn = typeof id === "number", isOpen = kind(recording) === "open", may = this.list.features.hasAPI;
    const actions = [
      ...playlist || state === "done" && this.isInRewind(channel, from) ? [element("a", { className: "button", href: page.href, ariaLabel: `Play ${name}` }, "Play")] : [],
      ...file?.endsWith(".mp4") && !this.isInRewind(channel, from) ? [button("Play", this.play)] : [],
      ...file ? [element("a", { className: "button", href: new URL(file.slice(1) + query, root).href, download: "", ariaLabel: `File of ${name}` }, "File")] : [],
      ...may && isOwn && isOpen && state !== "finishing" ? [button("Stop", this.remove)] : [],
      ...may && state === "planned" ? [button(repeat ? "Cancel series" : "Cancel", this.remove, "Cancel")] : [],
      ...may ? [button(keep ? "Do not keep" : "Keep", this.keep)] : [],
      ...may && kind(recording) === "over" ? [button("Delete …", this.delete, "Delete")] : [],
    ];
    const node = element("li", { data: { state } }, element("b", {}, name), element("span", { className: "badge", data: { level: state === "failed" ? 3 : state === "paused" ? 2 : state === "done" ? "" : 1 } }, words[state]),
      element("span", { className: "times" }, [owner, `${dateAndTime(from)} – ${to ? timeOfDay(to).slice(0, 5) : "…"}`, repeat ? repeats[repeat] : "", keep ? "kept" : ""].filter(Boolean).join(" · ")),
      figures, reason ? element("span", { className: "reason" }, reason) : "", element("span", { className: "actions" }, ...actions));
    return { node, figures };
  }

  /** Whether the rewind of a channel that runs begins before a date. */
  isInRewind(channel, date) {
    const start = this.list.running.get(channel)?.rewindStart;
    return start !== undefined && Date.parse(start) / 1000 <= date + 10;
  }

  remove({ id }) { return request("DELETE", `recordings/${encodeURIComponent(id)}`); }

  keep({ id, keep }) { return request("PATCH", `recordings/${encodeURIComponent(id)}`, { body: { keep: !keep } }); }

  async delete({ id, name, file, repeat }) {
    const answer = await dialog(`Delete “${name}”?`, [
      ...repeat ? [element("p", {}, "It is the newest of a series, which ends.")] : [],
      ...file ? [element("label", { className: "check" }, element("input", { type: "checkbox", name: "files", checked: true }), " Its files too")] : [],
    ], "Delete", { isDanger: true });
    if (answer) await request("DELETE", `recordings/${encodeURIComponent(id)}?files=${answer.has("files")}`);
  }

  async play({ name, file }) {
    const video = element("video", { controls: true, autoplay: true, src: new URL(file.slice(1) + query, root).href });
    await dialog(name, [video], undefined, { cancel: "Close" });
    video.removeAttribute("src");
    video.load();
  }
}

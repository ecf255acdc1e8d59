// What happened, as the API's stream of events tells it: times, channels, reasons.
import { request } from "./api.js";
import { dateAndTime, dayOf, duration, element, timeOfDay } from "./words.js";

const MOST = 1000; // events that are shown
const SHOWN = 200; // at first
const causes = { tagged: "announced", loss: "after lost segments", configuration: "another picture", clock: "another clock", audioConfiguration: "another sound", resumed: "after a restart", joined: "begins" };
const file = ({ file }) => file ? file.split("/").at(-1) : "";

/** What an event says, and how bad it is. */
const told = {
  channel_start: () => ["starts", 0], channel_recovery: ({ error, seconds }) => [`is well again after ${duration(seconds)}${error === "spool" ? " without its disk" : ""}`, 0],
  channel_stop: ({ reason, seconds }) => [`${{ stopped: "stops", ended: "has ended", failed: "stops after a failure" }[reason] ?? `stops: ${reason}`}, after ${duration(seconds)}`, reason === "failed" ? 3 : 0],
  channel_error: ({ error, reason }) => [`${{ failed: "has failed", outage: "outage", spool: "cannot be stored" }[error] ?? error}: ${reason}`, 3],
  channel_failover: ({ source }) => [source === 0 ? "the primary is shown again" : `backup ${source} is shown`, source === 0 ? 0 : 2],
  channel_finding: ({ side, rule, text, lastHour }) => [`${side === "output" ? "the output" : "the upstream"} breaks rule ${rule}: ${text}${lastHour > 1 ? `, ${lastHour} times in an hour` : ""}`, side === "output" ? 2 : 0],
  splice: ({ cause, width, height }) => [`splice, ${causes[cause] ?? cause}${width ? `, ${width}×${height}` : ""}`, 0],
  recording_plan: ({ name, start }) => [`recording planned: ${name}, ${dateAndTime(Date.parse(start) / 1000)}`, 0], recording_start: (e) => [`recording begins: ${file(e)}`, 0],
  recording_end: (e) => [`recording done: ${file(e)}${e.note ? ` (${e.note})` : ""}`, 0], recording_pause: ({ reason }) => [`recording paused: ${reason}`, 2],
  recording_resume: () => ["recording goes on", 0], recording_close: () => ["recording is being finished", 0], recording_error: ({ reason }) => [`recording failed: ${reason}`, 3],
  capture_start: ({ directory }) => [`capture begins: ${directory}`, 0], capture_end: ({ directory }) => [`capture done: ${directory}`, 0],
  archive_error: ({ reason }) => [`archive: ${reason}`, 3], archive_recovery: () => ["the archive takes segments again", 0], archive_loss: ({ segments }) => [`${segments} segments did not reach the archive`, 3],
  client_connect: ({ address, userAgent }) => [`viewer: ${address ?? ""} ${userAgent ?? ""}`, 0], client_disconnect: ({ address, seconds }) => [`viewer left: ${address ?? ""}, after ${duration(seconds)}`, 0],
  list_reload: ({ added, removed, changed }) => [`list read again: ${added} added, ${removed} removed, ${changed} changed`, 0], list_error: ({ reason }) => [`list: ${reason}`, 3],
};

export class Events {
  events = [];
  limit = SHOWN;

  constructor(panel, list) {
    Object.assign(this, { panel, list });
    this.channel = element("select", {}, new Option("All channels", ""));
    this.what = element("select", {}, new Option("All but splices", "main"), new Option("Everything", ""), new Option("Problems", "bad"), new Option("Splices", "splice"), new Option("Recordings", "recording"), new Option("Viewers", "client"));
    this.note = element("p", { className: "hint", role: "status" });
    this.open = element("button", { type: "button" }, "Show the events …");
    this.log = element("ol", { className: "log" });
    this.more = element("button", { type: "button", hidden: true }, "Earlier ones");
    panel.append(element("div", { className: "search" }, element("label", { className: "choice" }, "Channel ", this.channel), element("label", { className: "choice" }, "What ", this.what)), this.note, this.open, this.log, this.more);
    for (const select of [this.channel, this.what]) select.addEventListener("change", () => { this.limit = SHOWN; this.render(); });
    this.open.addEventListener("click", () => this.follow());
    // A page that is left may stay in the browser's cache, and would keep one of its few connections.
    addEventListener("pagehide", () => this.abort?.abort());
    this.more.addEventListener("click", () => { this.limit += SHOWN; this.render(); });
  }

  update() {
    const names = this.list.channels.map(({ slug, name }) => [slug, name]), key = JSON.stringify(names);
    if (this.names !== key) {
      this.names = key;
      const { value } = this.channel;
      this.channel.replaceChildren(new Option("All channels", ""), ...names.map(([slug, name]) => new Option(name, slug)));
      this.channel.value = value;
    }
    if (!this.isFollowing) this.follow(true);
  }

  /** Reads the stream for as long as the page is open. Quietly: without asking for a token. */
  async follow(isQuiet = false) {
    if (this.isFollowing) return;
    this.isFollowing = true;
    try {
      this.abort = new AbortController();
      const answer = await request("GET", `events?after=${this.events.at(-1)?.id ?? 0}`, { isQuiet, signal: this.abort.signal });
      this.open.hidden = answer !== undefined;
      if (!answer) {
        this.note.textContent = "Events name addresses of viewers and causes, so they need the token of the API.";
        return;
      }
      this.note.textContent = "";
      this.render();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) this.take(part);
        this.schedule();
      }
    } catch (error) {
      if (error.name !== "AbortError") this.note.textContent = `The events are not there: ${error.message}`;
    } finally { this.isFollowing = false; }
  }

  take(part) {
    const data = part.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
    if (!data) return;
    const event = JSON.parse(data);
    if (event.type) this.events.push(event);
    if (this.events.length > MOST) this.events.shift();
  }

  schedule() { this.timer ??= setTimeout(() => { this.timer = undefined; this.render(); }, 150); }

  render() {
    const channel = this.channel.value, what = this.what.value;
    const rows = this.events.filter((event) => (!channel || event.channel === channel)
      && (!what || (what === "main" ? event.type !== "splice" : what === "bad" ? (told[event.type]?.(event)[1] ?? 0) > 1 : event.type.startsWith(what)))).reverse();
    const shown = rows.slice(0, this.limit);
    let day;
    this.log.replaceChildren(...shown.map((event) => {
      const date = Date.parse(event.time) / 1000, [text, level] = told[event.type]?.(event) ?? [event.type, 0], isNewDay = dayOf(date) !== day;
      day = dayOf(date);
      return element("li", { data: { level } }, element("time", { dateTime: event.time }, `${isNewDay ? `${day} ` : ""}${timeOfDay(date)}`),
        event.channel ? element("b", {}, this.list.nameOf(event.channel)) : "", element("span", {}, text));
    }));
    this.more.hidden = rows.length <= this.limit;
    if (!this.note.textContent || /^Nothing/.test(this.note.textContent)) this.note.textContent = rows.length === 0 && this.isFollowing ? "Nothing has happened yet that is shown here." : "";
  }
}

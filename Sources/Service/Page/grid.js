// The guide: a row for each channel, with time on top. Rows ask for their programs when they can be seen.
import { dialog } from "./api.js";
import { dateAndTime, element, programs, query, root, sift, timeOfDay } from "./words.js";

const SPAN = matchMedia("(max-width: 40rem)").matches ? 5400 : 10_800; // seconds that are shown at once
const STEP = 1800; // seconds between labels
const CHUNK = 25; // rows made at once
const MOST = 4; // requests at once

export class Grid {
  rows = new Map(); // by slug
  seen = new Set();

  constructor(panel, list) {
    Object.assign(this, { panel, list, start: this.present });
    const move = (text, label, seconds) => {
      const button = element("button", { type: "button", ariaLabel: label }, text);
      button.addEventListener("click", () => this.go(seconds === 0 ? this.present : this.start + seconds));
      return button;
    };
    this.title = element("span", { className: "when", role: "status" });
    this.head = element("div", { className: "hours", ariaHidden: "true" });
    this.line = element("i", { className: "present", ariaHidden: "true" });
    this.body = element("ol", { className: "rows" });
    panel.append(element("div", { className: "moves" }, move("−1 d", "A day earlier", -86_400), move("−2 h", "2 hours earlier", -7200), move("Now", "Now", 0), move("+2 h", "2 hours later", 7200), move("+1 d", "A day later", 86_400), this.title),
      element("div", { className: "frame" }, this.head, this.body, this.line));
    this.watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) isIntersecting ? this.seen.add(target.known) : this.seen.delete(target.known);
      this.load();
    }, { rootMargin: "100px" });
    list.onfilter = () => this.isShown && this.filter();
    this.body.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.show(button.channel, button.program);
    });
  }

  /** The half hour that began last. */
  get present() { return Math.floor(Date.now() / 1000 / STEP) * STEP; }

  go(start) {
    this.start = start;
    this.showTimes();
    for (const known of this.seen) this.fill(known);
    this.load();
  }

  showTimes() {
    this.title.textContent = `${dateAndTime(this.start)} – ${timeOfDay(this.start + SPAN).slice(0, 5)}`;
    this.head.replaceChildren(...Array.from({ length: SPAN / STEP }, (_, i) => element("span", {}, timeOfDay(this.start + i * STEP).slice(0, 5))));
    const share = (Date.now() / 1000 - this.start) / SPAN;
    this.line.hidden = share < 0 || share > 1;
    this.line.style.setProperty("--at", share);
  }

  update() {
    if (this.list.channels !== this.channels) this.makeRows();
    if (this.shownAt !== this.present && this.shownAt === this.start) this.start = this.present; // it moves on with the time
    this.shownAt = this.present;
    this.showTimes();
    this.load();
  }

  makeRows() {
    const channels = this.channels = this.list.channels;
    this.watcher.disconnect();
    this.seen.clear();
    this.rows.clear();
    this.body.replaceChildren();
    const make = (from) => {
      if (channels !== this.channels) return;
      this.body.append(...channels.slice(from, from + CHUNK).map((channel) => this.makeRow(channel)));
      if (this.list.isFiltered) this.filter();
      if (from + CHUNK < channels.length) setTimeout(() => make(from + CHUNK), 0);
    };
    make(0);
  }

  makeRow(channel) {
    const name = element("a", { href: this.list.address(channel), title: channel.name }, channel.name), box = element("div", { className: "programs" });
    const row = element("li", {}, name, box);
    row.known = { row, box, channel, parts: new Map() };
    this.rows.set(channel.slug, row.known);
    this.watcher.observe(row);
    return row;
  }

  filter() {
    const { words } = this.list;
    sift(this.body, [...this.rows.values()].map(({ row, channel }) => [row, this.list.matches(channel, words)]));
  }

  /** Asks for what is missing of the rows that can be seen. */
  load() {
    if (!this.isShown) return;
    for (const known of this.seen) {
      if ((this.loading ?? 0) >= MOST) return;
      const { start } = this, part = known.parts.get(start);
      if (part && Date.now() - part.time < 600_000) continue;
      known.parts.set(start, { time: Date.now(), programs: part?.programs });
      if (known.parts.size > 8) known.parts.delete(known.parts.keys().next().value);
      this.loading = (this.loading ?? 0) + 1;
      programs(new URL(`${encodeURIComponent(known.channel.slug)}/`, root).href, start, start + SPAN)
        .then((programs) => known.parts.set(start, { time: Date.now(), programs }), () => known.parts.delete(start))
        .finally(() => {
          this.loading--;
          this.fill(known);
          this.load();
        });
    }
  }

  /** Places the programs of a row. */
  fill(known) {
    const { box, channel } = known, { start } = this, found = known.parts.get(start)?.programs;
    const shown = (found ?? []).filter((program) => program.end > start && program.start < start + SPAN), now = Date.now() / 1000;
    const key = JSON.stringify([start, found === undefined, shown.map((program) => [program.start, program.title, program.start <= now && now < program.end])]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const share = (date) => Math.min(100, Math.max(0, (date - start) / SPAN * 100));
    box.replaceChildren(...shown.map((program) => {
      const time = `${timeOfDay(program.start).slice(0, 5)} – ${timeOfDay(program.end).slice(0, 5)}`;
      const button = element("button", { type: "button", title: `${program.title}, ${time}`, ariaLabel: `${program.title}, ${time}, ${channel.name}` }, program.title);
      Object.assign(button, { program, channel });
      Object.assign(button.style, { left: `${share(program.start)}%`, width: `${share(program.end) - share(program.start)}%` });
      button.toggleAttribute("data-now", program.start <= now && now < program.end);
      button.toggleAttribute("data-past", program.end <= now);
      return button;
    }), ...found?.length === 0 ? [element("span", { className: "hint" }, "The guide has nothing here.")] : []);
  }

  /** What can be done with a program. */
  async show(channel, program) {
    const now = Date.now() / 1000, { hasAPI, hasRecordings } = this.list.features, { start, end } = program;
    const link = new URL(`${encodeURIComponent(channel.slug)}/${query}${start <= now ? `#from=${start}&to=${end}` : ""}`, root).href;
    const record = element("button", { value: "done", className: "primary" }, "Record …");
    const answer = await dialog(program.title, [
      element("p", {}, `${channel.name}, ${dateAndTime(start)} – ${timeOfDay(end).slice(0, 5)}`),
      element("p", { className: "actions" }, ...start <= now ? [element("a", { className: "button", href: link }, "Play from its start")] : [],
        element("a", { className: "button", href: this.list.address(channel) }, "The channel"), ...hasAPI && hasRecordings ? [record] : [])], undefined, { cancel: "Close" });
    if (!answer) return;
    const made = await (await import("./record.js")).record(channel, program);
    if (made) location.hash = "#recordings";
  }
}

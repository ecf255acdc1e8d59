// The list of all channels, in the order of the list: cards with what is on, how it goes, and the last 24 hours.
import { address, badge, bitRate, duration, element, logo, people, programs, query, sift, timeOfDay } from "./words.js";

const CHUNK = 16; // cards made at once, so that no task is long
const STILL_AGE = 60_000; // milliseconds
const levels = ["did not run", "live", "late", "in an outage", "failed"];
const set = (node, text) => { if (node.textContent !== text) node.textContent = text; };

export class List {
  channels = [];
  cards = new Map(); // by slug, of the channels whose cards are made
  names = new Map(); // by slug
  texts = new Map(); // what the search finds, by slug
  running = new Map(); // as in overview.json, by slug
  failures = {}; // of idle channels, by slug
  features = {};
  health = undefined; // as in health.json
  seen = new Set(); // cards
  group = undefined;
  isLoading = false;

  constructor($) {
    Object.assign(this, { $, grid: $("grid") });
    this.watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        this.seen[isIntersecting ? "add" : "delete"](target);
        if (isIntersecting) this.show(target.known);
      }
      this.load();
    }, { rootMargin: "200px" });
    $("search").addEventListener("input", () => this.filter());
    $("groups").addEventListener("click", ({ target }) => {
      if (!target.closest("button")) return;
      this.group = target.closest("button").value || undefined;
      for (const chip of $("groups").children) chip.setAttribute("aria-pressed", String(chip.value === (this.group ?? "")));
      this.filter();
    });
  }

  // MARK: State

  take({ channels, failures, features }) {
    this.running = new Map(channels.map((channel) => [channel.slug, channel]));
    Object.assign(this, { failures, features });
  }

  /** The state of a channel in words: text, level, reason. */
  state({ slug }) {
    const status = this.running.get(slug) ?? { state: "idle", lastFailure: this.failures[slug] };
    const { name, text, level } = badge(status.state, status.channelState, status.lastFailure);
    const reason = level > 1 ? status.lastFailure?.reason ?? status.reason ?? status.upstreamReason : undefined;
    return { status, name, text, level, reason };
  }

  address = ({ slug }) => `${encodeURIComponent(slug)}/${query}`;

  nameOf = (slug) => this.names.get(slug) ?? slug;

  get isKnown() { return this.channels.length > 0; }

  setHealth(history) {
    this.health = history;
    const since = Date.now() / 1000 - history.uptime;
    set(this.$("known"), history.uptime < 86_400 ? `Strips are the last 24 hours, known since ${timeOfDay(since).slice(0, 5)}, when liverelay started.` : "Strips are the last 24 hours.");
    for (const card of this.seen) this.showHealth(card.known);
  }

  // MARK: Cards

  /** Takes the list. Cards of channels that are as before stay. */
  setChannels(channels) {
    const wanted = new Map(channels.map((channel) => [channel.slug, channel]));
    for (const [slug, { card, key }] of this.cards) {
      if (JSON.stringify(wanted.get(slug)) === key) continue;
      this.watcher.unobserve(card);
      this.seen.delete(card);
      card.remove();
      this.cards.delete(slug);
    }
    Object.assign(this, { channels, wanted });
    this.names = new Map(channels.map(({ slug, name }) => [slug, name]));
    this.texts = new Map(channels.map(({ slug, name, number, groups }) => [slug, `${name} ${number ?? ""} ${groups.join(" ")}`.toLowerCase()]));
    this.showGroups();
    const turn = this.turn = {};
    const make = (from) => {
      if (turn !== this.turn) return;
      const nodes = channels.slice(from, from + CHUNK).map((channel) => this.cards.get(channel.slug)?.card ?? this.makeCard(channel));
      nodes.forEach((node, i) => {
        const place = this.grid.children[from + i] ?? null;
        if (place !== node) this.grid.insertBefore(node, place);
      });
      if (from + CHUNK < channels.length) setTimeout(() => make(from + CHUNK), 0);
      if (from === 0 || this.isFiltered) this.filter();
    };
    make(0);
  }

  makeCard(channel) {
    const parts = Object.fromEntries(["badge", "now", "next", "line"].map((name) => [name, element("span", { className: name })]));
    const progress = element("span", { className: "progress" }, element("i"));
    const strip = element("span", { className: "strip", role: "img", ariaLabel: "Last 24 hours: nothing is known" });
    const still = element("img", { className: "still", alt: "", width: 112, height: 63 });
    const card = element("li", {}, element("a", { href: this.address(channel) },
      element("span", { className: "face" }, logo(channel), still),
      element("span", { className: "title" }, element("b", {}, channel.name), channel.number ? element("span", { className: "number" }, ` ${channel.number}`) : ""),
      parts.badge, element("span", { className: "on" }, parts.now, progress, parts.next), parts.line, strip));
    card.known = { card, parts, progress, strip, still, channel, key: JSON.stringify(channel) };
    this.cards.set(channel.slug, card.known);
    this.watcher.observe(card);
    this.show(card.known);
    return card;
  }

  show({ card, parts, channel, still }) {
    const { status, name, text, level, reason } = this.state(channel);
    const isRunning = status.bandwidth !== undefined && level < 3;
    const key = JSON.stringify([name, text, level, reason, isRunning && [status.bandwidth, people(status)]]);
    if (card.dataset.key === key) return;
    Object.assign(card.dataset, { key, level, state: name });
    set(parts.badge, text);
    Object.assign(parts.badge.dataset, { level, state: name });
    if (!status.hasStills) still.removeAttribute("src");
    set(parts.line, reason ?? (isRunning ? `${people(status)} · ${bitRate(status.bandwidth)}` : ""));
    parts.line.title = reason ?? "";
  }

  /** Now and next, with how far the program is. */
  showPrograms({ parts, progress, listings }) {
    const now = Date.now() / 1000, at = listings?.findIndex(({ end }) => end > now) ?? -1;
    const current = listings?.[at]?.start <= now ? listings[at] : undefined, next = listings?.[current ? at + 1 : at];
    set(parts.now, current?.title ?? "");
    set(parts.next, next ? `${timeOfDay(next.start).slice(0, 5)} ${next.title}` : "");
    progress.toggleAttribute("data-on", current !== undefined);
    if (current) progress.firstChild.style.width = `${Math.round((now - current.start) / (current.end - current.start) * 100)}%`;
  }

  showHealth({ strip, channel }) {
    const text = this.health?.channels[channel.slug] ?? "", { uptime, cellSeconds } = this.health ?? {};
    if (!this.health || strip.dataset.key === text + Math.round(uptime / 300)) return;
    strip.dataset.key = text + Math.round(uptime / 300);
    const counts = [0, 0, 0, 0, 0], stops = [], unknown = Math.max(0, 288 - Math.ceil(uptime / cellSeconds));
    for (let i = 0; i < 288;) {
      const kind = i < unknown ? "unknown" : text[i] ?? "0";
      let j = i + 1;
      while (j < 288 && (j < unknown ? "unknown" : text[j] ?? "0") === kind) j++;
      if (kind !== "unknown") counts[kind] += j - i;
      stops.push(`var(--h-${kind}) ${(i / 2.88).toFixed(2)}% ${(j / 2.88).toFixed(2)}%`);
      i = j;
    }
    strip.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const words = counts.flatMap((count, kind) => kind > 0 && count > 0 ? [`${levels[kind]} in ${duration(count * cellSeconds)}`] : []);
    strip.ariaLabel = `Last 24 hours: ${words.join(", ") || "did not run"}`;
    strip.title = strip.ariaLabel;
  }

  // MARK: Finding

  showGroups() {
    const counts = new Map();
    for (const { groups } of this.channels) for (const group of groups) counts.set(group, (counts.get(group) ?? 0) + 1);
    const box = this.$("groups"), rows = counts.size > 1 ? [["", "All", this.channels.length], ...[...counts].map(([group, count]) => [group, group, count])] : [];
    if (!counts.has(this.group)) this.group = undefined;
    if (box.dataset.key === JSON.stringify(rows)) return;
    box.dataset.key = JSON.stringify(rows);
    box.replaceChildren(...rows.map(([value, text, count]) => element("button", { type: "button", value, ariaPressed: String(value === (this.group ?? "")) },
      text, element("span", {}, ` ${count}`))));
  }

  /** Whether a channel is among those that are looked for. */
  matches({ slug, groups }, words) {
    return (this.group === undefined || groups.includes(this.group)) && words.every((word) => this.texts.get(slug).includes(word));
  }

  get isFiltered() { return this.group !== undefined || this.words.length > 0; }

  get words() { return this.$("search").value.toLowerCase().split(/\s+/).filter(Boolean); }

  filter() {
    const { words } = this;
    const found = new Set(this.channels.filter((channel) => this.matches(channel, words)).map(({ slug }) => slug));
    sift(this.grid, [...this.cards.values()].map(({ card, channel }) => [card, found.has(channel.slug)]));
    this.$("empty").hidden = found.size > 0;
    set(this.$("empty"), this.isKnown ? "No channel is called so." : "Loading …");
    this.onfilter?.();
  }

  update() {
    for (const { known } of this.seen) this.show(known); // the others when they are seen
    this.load();
  }

  // MARK: What is loaded for the cards that can be seen

  async load() {
    for (const { known } of this.seen) {
      this.showPrograms(known);
      this.showHealth(known);
    }
    if (this.isLoading || document.hidden) return;
    this.isLoading = true;
    await Promise.all([this.loadPrograms(), this.loadPrograms(), this.loadPrograms(), this.loadStills()]);
    this.isLoading = false;
  }

  /** Asks for what is on, one channel after the other. */
  async loadPrograms() {
    if (!this.features.hasGuide) return;
    for (const card of this.seen) {
      const { known } = card, now = Date.now() / 1000;
      if (known.programsUntil > now) continue;
      known.programsUntil = now + 600;
      known.listings = await programs(`${encodeURIComponent(known.channel.slug)}/`, now, now + 28_800).catch(() => undefined);
      const current = known.listings?.find(({ end }) => end > now);
      if (known.listings?.length > 2) known.programsUntil = Math.max(now + 60, current.end);
      this.showPrograms(known);
    }
  }

  /** Loads the pictures, one after the other, and each again after a minute. */
  async loadStills() {
    for (const card of this.seen) {
      const { known } = card;
      if (!this.running.get(known.channel.slug)?.hasStills || Date.now() - (known.time ?? 0) < STILL_AGE) continue;
      known.time = Date.now();
      const image = new Image();
      // The time keeps the browser from showing the picture that it has.
      image.src = address(`${encodeURIComponent(known.channel.slug)}/still.jpg`, { width: 224, time: Math.round(known.time / 1000) });
      if (await image.decode().then(() => true, () => false)) known.still.src = image.src;
    }
  }
}

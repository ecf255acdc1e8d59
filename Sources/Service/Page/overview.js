// The page of a list: all channels, those with problems first.
import { address, badge, bitRate, copy, duration, element, logo, people, plural, query, timeOfDay } from "./words.js";

const $ = (id) => document.getElementById(id);
const LIMIT = 400; // cards that are shown at once; the search finds the rest
const cards = new Map(); // by slug
const STILL_AGE = 60_000; // milliseconds
const seen = new Set(); // cards
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
  loadStills();
});
let isLoading = false;
let channels = [], running = new Map(), listed, answeredAt; // in seconds since 1970

/** The card of a channel, whose parts are filled by `show`. */
function makeCard(channel) {
  const parts = Object.fromEntries(["badge", "reason", "age", "rate", "people"].map((name) => [name, element("span", { className: name })]));
  const figure = (label, part) => element("span", { className: "figure" }, element("span", { className: "label" }, label), part);
  const still = element("img", { className: "still", alt: "", width: 112, height: 63 });
  const card = element("li", {}, element("a", { href: `${encodeURIComponent(channel.slug)}/${query}` }, still, logo(channel),
    element("span", { className: "title" }, element("b", {}, channel.name), channel.number ? element("span", { className: "number" }, channel.number) : ""),
    parts.badge, parts.reason,
    element("span", { className: "figures" }, figure("Newest picture", parts.age), figure("Bit rate", parts.rate), figure("Viewers", parts.people))));
  watcher.observe(card);
  return { card, parts, channel, still, text: `${channel.name} ${channel.number ?? ""} ${channel.groups.join(" ")}`.toLowerCase() };
}

const set = (node, text) => { if (node.textContent !== text) node.textContent = text; };

function show({ card, parts, channel }) {
  const status = running.get(channel.slug) ?? { state: "idle" };
  const { name, text, level } = badge(status.state, status.channelState);
  card.dataset.level = level;
  card.dataset.state = name;
  card.toggleAttribute("data-still", status.hasStills === true);
  set(parts.badge, text);
  parts.badge.dataset.level = level;
  parts.badge.dataset.state = name;
  set(parts.reason, level > 1 ? status.reason ?? status.upstreamReason ?? "" : "");
  parts.reason.title = parts.reason.textContent;
  set(parts.age, status.secondsSinceNewSegment === undefined ? "–" : duration(status.secondsSinceNewSegment));
  set(parts.rate, bitRate(status.bandwidth));
  set(parts.people, people(status));
}

/** Problems first, then what runs, then what is idle, each in the order of the list. */
function rank(channel) {
  const status = running.get(channel.slug);
  if (!status) return 4;
  return 3 - badge(status.state, status.channelState).level;
}

function render() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = channels.filter(({ slug }) => words.every((word) => cards.get(slug).text.includes(word)));
  const order = found.map((channel, i) => [rank(channel), i, channel]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, LIMIT);
  const shown = order.map(([, , channel]) => cards.get(channel.slug));
  shown.forEach(show);
  const nodes = shown.map(({ card }) => card), grid = $("grid");
  if (nodes.length !== grid.children.length || nodes.some((node, i) => grid.children[i] !== node)) {
    const focused = document.activeElement;
    grid.replaceChildren(...nodes);
    if (grid.contains(focused)) focused.focus({ preventScroll: true });
  }
  $("empty").hidden = shown.length === found.length && found.length > 0;
  set($("empty"), found.length === 0 ? (listed === undefined ? "Loading …" : "No channel is called so.")
    : found.length > LIMIT ? `${found.length - LIMIT} more are not shown: search for them.` : "");
  const all = [...running.values()].map((status) => badge(status.state, status.channelState).level);
  const bad = all.filter((level) => level > 1).length;
  if (listed !== undefined) {
    set($("summary"), `${plural(channels.length, "channel")}, ${all.length} running${bad ? `, ${plural(bad, "problem")}` : ""}`);
  }
}

// MARK: Stills

/** Loads the pictures of the cards that can be seen, one after the other, and each again after a minute. */
async function loadStills() {
  if (isLoading || document.hidden) return;
  isLoading = true;
  for (const known of cards.values()) {
    if (!seen.has(known.card) || !known.card.hasAttribute("data-still") || Date.now() - (known.time ?? 0) < STILL_AGE) continue;
    known.time = Date.now();
    const image = new Image();
    // The time keeps the browser from showing the picture that it has.
    image.src = address(`${encodeURIComponent(known.channel.slug)}/still.jpg`, { width: 224, time: Math.round(known.time / 1000) });
    if (await image.decode().then(() => true, () => false)) known.still.src = image.src;
  }
  isLoading = false;
}

async function get(name) {
  const answer = await fetch(`web/${name}${query}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.json();
}

let turn = 0;
async function poll() {
  try {
    const overview = await get("overview.json");
    running = new Map(overview.channels.map((channel) => [channel.slug, channel]));
    if (overview.listed !== listed || turn++ % 20 === 0) {
      ({ channels } = await get("channels.json"));
      listed = overview.listed;
      for (const channel of channels) {
        const known = cards.get(channel.slug);
        if (known && JSON.stringify(known.channel) === JSON.stringify(channel)) continue;
        if (known) {
          watcher.unobserve(known.card);
          seen.delete(known.card);
        }
        cards.set(channel.slug, makeCard(channel));
      }
    }
    answeredAt = Date.now() / 1000;
    delete document.body.dataset.away;
    render();
    loadStills();
  } catch {
    document.body.dataset.away = "";
    set($("summary"), answeredAt ? `liverelay has not answered since ${timeOfDay(answeredAt)}.` : "liverelay does not answer.");
  }
  setTimeout(poll, document.hidden ? 15_000 : 3_000);
}

$("search").addEventListener("input", render);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== $("search")) {
    event.preventDefault();
    $("search").focus();
  }
});
$("copy").addEventListener("click", async () => {
  set($("copy"), await copy(new URL(`playlist.m3u${query}`, location.href).href) ? "Copied" : "Cannot copy");
  setTimeout(() => set($("copy"), "Copy M3U"), 2_000);
});
poll();

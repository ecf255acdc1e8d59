// The page of a channel.
import { Bar } from "./bar.js";
import { Player } from "./player.js";
import { Subtitles } from "./subtitles.js";
import { Guide } from "./guide.js";
import {
  absence, address, audioName, badge, bitRate, copy, dateAndTime, dayOf, duration, element, failure, faults, get, holeName, logo, plural, problems, programs, query, timeOfDay, videoName,
} from "./words.js";
import { Viewers } from "./viewers.js";

const $ = (id) => document.getElementById(id);
const list = document.documentElement.dataset.list; // where the list of channels is; empty if there is only this one
const video = $("video");
const player = new Player(video, "", query);
const subtitles = new Subtitles(player, $("subtitles"));
const bar = new Bar($("bar"), (position) => player.seek(position), (seconds) => player.move(seconds));
const guide = new Guide($, list, (date) => watch(date));
const viewers = new Viewers($("viewers"));
let isOpen = false, channel, features = {}, status, answeredAt; // when liverelay answered last, in seconds since 1970

/** Replaces an element's content only if it differs, so that the page does not move or lose the focus. */
function fill(node, key, make) {
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.replaceChildren(...make());
}

// MARK: Playing

function setOpen(value) {
  $("start").hidden = isOpen = value;
  if (status) showCover();
}

async function open() {
  setOpen(true);
  notice("Loading …");
  const aim = wanted;
  try {
    video.play().catch(() => {});
    await player.open();
    if (wanted) await showWanted();
    notice();
    showAudio();
    showQuality();
    subtitles.load().catch(() => {});
    loadBreaks().catch(() => {});
    await video.play();
    if (document.activeElement === document.body) $("bar").focus(); // the button that was pressed is gone
  } catch (error) {
    if (error.name === "AbortError" && !player.error) return;
    setOpen(false);
    video.pause();
    if (error.name === "NotAllowedError") wanted = aim; // Play goes there
    notice(error.name === "NotAllowedError" ? undefined : error.message);
  }
}

/** The dates that the address of the page asks for: `#from=…&to=…`, in seconds since 1970. */
function readWanted() {
  const values = new URLSearchParams(location.hash.slice(1)), [from, to] = ["from", "to"].map((name) => Number(values.get(name)) || undefined);
  return from && { from, to };
}
let wanted = readWanted();

/** Goes to the dates of the address. */
async function showWanted() {
  const { from } = wanted;
  wanted = undefined;
  if (from < player.timeline.date(player.timeline.start) && Date.parse(status?.output?.rewindStart) / 1000 < from + 1) await chooseDay(String(midnight(from)));
  if (from >= player.timeline.date(player.timeline.start) - 10) player.seek(player.timeline.position(from));
  else throw new Error("This is older than the rewind.");
}
addEventListener("hashchange", () => {
  wanted = readWanted();
  if (wanted) isOpen ? showWanted().catch((error) => notice(error.message)) : open();
});

/** Shows what there is to see in place of a picture: the newest still, or the name, and what Play does. */
function showCover() {
  const { output = {}, splice = {}, stills, state } = status, failed = failure(status);
  if (failed && $("notice").textContent === failed.reason) notice(); // the picture says it
  const { currentPeriod } = splice;
  const isAudio = currentPeriod !== undefined && !currentPeriod.video;
  const hasStill = stills && !stillsAreImpossible(stills) && output.segments > 0 && !isAudio;
  const age = Date.now() - (Number(video.dataset.posterAt) || 0);
  if (!isOpen && hasStill && age > 10_000) {
    video.dataset.posterAt = Date.now();
    video.poster = address("still.jpg", { width: 960, time: Math.round(Date.now() / 1000) });
  }
  $("cover").hidden = !isAudio && (isOpen || hasStill);
  const words = failed && !(output.segments > 0) ? [failed.reason, [failed.todo, failed.next].filter(Boolean).join(" ")]
    : [isAudio ? "Sound without a picture" : ["idle", "failed"].includes(state) ? "Starts when you play"
      : output.segments > 0 ? "" : "Starting"];
  const next = idlePrograms.slice(0, 2).map(({ title, start }, i) => `${i === 0 && start * 1000 <= Date.now() ? "Now" : timeOfDay(start).slice(0, 5)}: ${title}`);
  fill($("cover"), JSON.stringify([channel?.name, channel?.logo, words, next, failed !== undefined]), () => [
    ...channel ? [logo(channel, 96)] : [], element("b", {}, channel?.name ?? status.name ?? ""),
    element("span", { className: "what", data: { level: failed ? 3 : 0 } }, ...words.map((text) => element("span", {}, text)), ...next.map((text) => element("small", {}, text))),
  ]);
}

/** Now and next of a channel that does not run, and so has no bar. */
let idlePrograms = [], programsAt = 0;
async function loadIdlePrograms() {
  await named;
  if (!list || !features.hasGuide || status.output || Date.now() - programsAt < 60_000) return;
  programsAt = Date.now();
  const now = programsAt / 1000;
  idlePrograms = (await programs("", now, now + 28_800).catch(() => [])).filter(({ end }) => end > now);
}

/** Whether the process has no decoder for the pictures. */
const stillsAreImpossible = ({ made, cached, failed }) => failed > 1 && made + cached === 0;

function notice(text) {
  $("notice").textContent = text ?? "";
  $("notice").hidden = !text;
}

function toggle() {
  if (!isOpen) return open();
  return video.paused ? video.play() : video.pause();
}

const move = (seconds) => isOpen && player.move(seconds);

function fullScreen() {
  const screen = document.querySelector(".stage");
  if (document.fullscreenElement) document.exitFullscreen();
  else if (screen.requestFullscreen) screen.requestFullscreen();
  else video.webkitEnterFullscreen?.();
}

const QUIET = 3_000; // milliseconds until the controls of a full screen hide

/** Shows the controls while something is moved or pressed. */
function wake() {
  const stage = document.querySelector(".stage");
  delete stage.dataset.quiet;
  clearTimeout(wake.timer);
  wake.timer = setTimeout(() => { stage.dataset.quiet = ""; }, QUIET);
}

function showKeys() {
  $("keys").hidden = !$("keys").hidden;
  $("help").setAttribute("aria-expanded", String(!$("keys").hidden));
}

for (const kind of ["pointermove", "pointerdown", "keydown", "fullscreenchange"]) document.addEventListener(kind, wake);

async function goLive() {
  if (player.isPast) await chooseDay("");
  if (!isOpen) return open();
  player.goLive();
  return video.play();
}

/** Plays from a date of what is shown. */
async function watch(date) {
  if (!isOpen) await open();
  if (isOpen) player.seek(player.timeline.position(date));
}

// MARK: Days

const DAY = 86_400; // seconds

/** Offers the days of a rewind that is longer than one; the last 24 hours come first. */
function showDays(output) {
  const [start, end] = datesOf(output), isLong = end - start > DAY, days = [];
  $("day").parentElement.hidden = !isLong;
  if (!isLong) return;
  player.range ||= lastDay(output);
  for (let day = midnight(end); midnight(day + 1.5 * DAY) > start; day = midnight(day - DAY / 2)) days.push(day);
  fill($("day"), days.join(), () => {
    const { value } = $("day");
    const options = [new Option("Last 24 hours", ""), ...days.map((day) => new Option(dayOf(day), String(day)))];
    for (const option of options) option.selected = option.value === value;
    return options;
  });
}

/** The dates of the oldest and the newest media. */
const datesOf = ({ rewindStart, liveEdge }) => [rewindStart, liveEdge].map((date) => Date.parse(date) / 1000);

/** The range of the last 24 hours. Where media lacks, its length is not that of its dates. */
function lastDay(output) {
  const [start, end] = datesOf(output);
  return end - start > output.rewindSeconds + 60 ? `?start=${Math.floor(end - DAY)}` : `?last=${DAY}`;
}

/** Loads the window: of an archive that reaches farther than the rewind, the last day. */
async function load(output) {
  await player.load();
  const { timeline } = player;
  if (player.range || datesOf(output)[0] > timeline.date(timeline.start) - 10 * timeline.target) return;
  player.range = lastDay(output);
  await player.load();
}

/** The beginning of the day of a date, in the time zone of the viewer. */
const midnight = (date) => new Date(date * 1000).setHours(0, 0, 0, 0) / 1000;

/** Shows a day: "" for the last 24 hours. */
async function chooseDay(value) {
  $("day").value = value;
  const day = Number(value), end = midnight(day + 1.5 * DAY);
  const isPast = value !== "" && end < Date.parse(status.output.liveEdge) / 1000;
  try {
    await player.show(value === "" ? lastDay(status.output) : `?start=${day}${isPast ? `&end=${end}` : ""}`, isPast);
    notice();
  } catch (error) { notice(error.message); }
}

$("day").addEventListener("change", () => chooseDay($("day").value));

/** Lists the languages. The first one is in the segments, and needs no rendition. */
function showAudio() {
  const rows = player.renditions.map(({ NAME, URI }, i) => [i === 0 ? "" : URI, NAME]);
  $("audio").replaceChildren(...rows.map(([value, text]) => new Option(text, value)));
  $("audio").value = player.audio;
  $("audio").parentElement.hidden = rows.length < 2;
}

/** Lists the variants by their height, the leading one first. */
function showQuality() {
  const rows = player.variants.map(({ RESOLUTION, URI, BANDWIDTH }, i) => [
    i === 0 ? "" : URI, RESOLUTION ? `${RESOLUTION.split("x")[1]}p` : `${Math.round(BANDWIDTH / 1000)} kbit/s`,
  ]);
  $("quality").replaceChildren(...rows.map(([value, text]) => new Option(text, value)));
  $("quality").value = player.level;
  $("quality").parentElement.hidden = rows.length < 2;
}

function nextAudio() {
  const { options, selectedIndex } = $("audio");
  if (options.length < 2) return;
  $("audio").selectedIndex = (selectedIndex + 1) % options.length;
  player.chooseAudio($("audio").value).catch((error) => notice(error.message));
}

function mute(isMuted) {
  video.muted = isMuted;
  $("mute").setAttribute("aria-pressed", String(isMuted));
}

for (const [id, action] of Object.entries({
  start: open, toggle, minute: () => move(-60), back10: () => move(-10), forward10: () => move(10), full: fullScreen,
  mute: () => mute(!video.muted), live: goLive, help: showKeys,
})) $(id).addEventListener("click", action);
$("audio").addEventListener("change", () => player.chooseAudio($("audio").value).catch((error) => notice(error.message)));
$("quality").addEventListener("change", () => player.chooseLevel($("quality").value).catch((error) => notice(error.message)));
$("volume").addEventListener("input", () => { video.volume = $("volume").value; mute(false); });
video.addEventListener("click", toggle);

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, a") || event.ctrlKey || event.metaKey || event.altKey) return;
  const isButton = event.target.closest("button");
  const action = {
    " ": isButton ? undefined : toggle, k: toggle, ArrowLeft: () => move(-10), ArrowRight: () => move(10), j: () => move(-60),
    l: () => $("live").click(), s: () => $("begin").click(), "[": () => guide.move(-1), "]": () => guide.move(1), m: () => $("mute").click(), a: nextAudio, c: () => subtitles.toggle(), f: fullScreen, "?": showKeys,
  }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

function showPosition() {
  const { timeline } = player;
  if (timeline.segments.length === 0) return;
  const position = isOpen ? player.position : timeline.end;
  bar.update(timeline, isOpen ? position : undefined);
  guide.update(timeline, position);
  $("bar").setAttribute("aria-busy", String(isOpen && player.pending !== undefined));
  const isAway = "away" in document.body.dataset, isLive = isOpen && player.isLive && !isAway;
  $("clock").textContent = isOpen ? timeOfDay(timeline.date(position)) : "–";
  const isWaiting = isOpen && !player.isPast && timeline.isStale && position > player.livePosition - 2 * timeline.target;
  $("behind").textContent = !isOpen ? "" : isLive ? "live"
    : isAway ? "no answer" : isWaiting ? `nothing new for ${duration(timeline.silence)}` : `${duration(timeline.end - position)} behind`;
  $("break").toggleAttribute("data-now", isOpen && timeline.isInBreak(position));
  $("live").setAttribute("aria-pressed", String(isLive));
  const [oldest, newest] = [timeline.start, timeline.end].map((at) => timeline.date(at)), isDay = dayOf(oldest) !== dayOf(newest);
  $("oldest").textContent = isDay ? dateAndTime(oldest) : timeOfDay(oldest);
  $("newest").textContent = isDay ? dateAndTime(newest) : timeOfDay(newest);
  bar.showAxis($("axis"));
}

function showEvents() {
  const { timeline } = player;
  const rows = [
    ...timeline.breaks.map((span) => ({
      ...span, text: `${span.kind === "found" ? "Probably an ad break (no tag)" : "Ad break"}, ${duration(span.end - span.start)}`,
    })),
    ...timeline.gaps.map((span) => ({ ...span, kind: "gap", text: `Missing, ${duration(span.end - span.start)}` })),
    ...timeline.holes.map((span) => ({ ...span, kind: "hole", text: `${holeName(span)}, ${duration(span.end - span.start)}` })),
  ].sort((a, b) => b.start - a.start);
  const shown = rows.slice(0, 40), isLong = timeline.end - timeline.start > DAY / 2;
  $("periods").textContent = timeline.periods > 1 ? plural(timeline.periods - 1, "splice") : "";
  fill($("events"), JSON.stringify([shown, rows.length]), () => [
    ...shown.map((row) => {
      const button = element("button", { type: "button" }, element("time", {}, isLong ? dateAndTime(timeline.date(row.start)) : timeOfDay(timeline.date(row.start))), ` ${row.text}`);
      button.addEventListener("click", async () => { if (!isOpen) await open(); player.seek(row.start); });
      return element("li", { data: { kind: row.kind } }, button);
    }),
    ...shown.length === rows.length && shown.length > 0 ? [] : [element("li", { className: "hint" },
      shown.length === 0 ? "No ad break is known, and nothing that was listed is missing." : `${rows.length - shown.length} more before these.`)],
  ]);
}

video.addEventListener("play", () => $("toggle").setAttribute("aria-label", "Pause"));
video.addEventListener("pause", () => $("toggle").setAttribute("aria-label", "Play"));
video.addEventListener("timeupdate", showPosition);
player.addEventListener("change", () => {
  showPosition();
  showEvents();
  if (!isOpen || video.paused) return;
  const isDry = player.ahead < 0.5 && player.pending === undefined;
  notice(!isDry ? undefined : "away" in document.body.dataset ? "liverelay does not answer." : status?.state === "outage" ? "Nothing comes from the upstream. The rewind can be watched." : player.error);
});

// MARK: Addresses

function showAddresses() {
  const at = (name) => new URL(name + query, location.href.replace(/[?#].*$/, "")).href;
  const rows = [
    ["HLS", at("master.m3u8"), "players, browsers, set-top boxes"], ["HLS, rewind", at("dvr.m3u8"), "the whole window"],
    ["MPEG-TS", at("live.ts"), "IPTV clients, ffmpeg"], ["HLS with MPEG-TS", at("ts/live.m3u8"), "older devices"],
    ["VLC", `vlc ${query ? `'${at("live.ts")}'` : at("live.ts")}`, "a command line"],
    ...list ? [["M3U", at(`${list}playlist.m3u`), "the list of all channels"]] : [],
  ];
  $("addresses").replaceChildren(...rows.map(([label, text, what]) => {
    const button = element("button", { type: "button", ariaLabel: `Copy ${label}` }, "Copy");
    button.addEventListener("click", async () => { $("copied").textContent = await copy(text, button) ? `${label} copied.` : "Cannot be copied here: select it."; });
    return element("li", {}, element("span", {}, element("b", {}, label), ` ${what}`), element("code", {}, text), button);
  }));
}

/** Asks for the ad breaks that nobody signals, when another period has begun. */
async function loadBreaks() {
  const { timeline, range } = player, wanted = `${range} ${timeline.segments.findLast(({ discontinuity }) => discontinuity)?.number}`;
  if (timeline.segments.length === 0 || timeline.wantedBreaks === wanted) return;
  timeline.wantedBreaks = wanted;
  const answer = await fetch(address("breaks.json", Object.fromEntries(new URLSearchParams(range))));
  if (!answer.ok) return;
  timeline.adBreaks = (await answer.json()).breaks;
  showPosition();
  showEvents();
}

// MARK: Status

function showStatus(now) {
  const { name, text, level } = badge(status.state, status.upstream ? status.state : undefined, status.lastFailure);
  $("badge").textContent = text;
  Object.assign($("badge").dataset, { level, state: name });
  showCover();
  viewers.show(status, features.hasAPI);
  document.body.toggleAttribute("data-idle", !status.output); // nothing is known of a channel that does not run
  if (!list && status.name && $("name").textContent !== status.name) {
    $("name").textContent = status.name;
    document.title = `${status.name} · liverelay`;
  }
  $("stills").hidden = !status.stills || !stillsAreImpossible(status.stills);
  $("stills").textContent = "No pictures of the past: this liverelay's libavcodec does not decode this video.";
  // What is said at the picture is not said twice.
  const found = problems(status).filter(({ isFailure }) => !isFailure || $("cover").hidden);
  $("trouble").hidden = found.length === 0 && !$("cover").hidden && level > 2;
  if (found.length === 0) found.push({ level: 0, what: "No problem is known." });
  $("trouble").toggleAttribute("data-well", found[0].level === 0);
  fill($("problems"), JSON.stringify(found.map(({ what, todo }) => [what.replace(/\d+/g, ""), todo])), () =>
    found.map(({ level, what, todo }) => element("li", { data: { level } }, element("b", {}, what), todo ? element("span", {}, todo) : "")));
  found.forEach(({ what }, i) => { $("problems").children[i].firstChild.textContent = what; });
  const { upstream = {}, output = {}, splice = {}, transportStream = {} } = status;
  const period = splice.currentPeriod ?? {};
  const rows = Object.entries({ // each with its details
    "Newest picture": [upstream.secondsSinceNewSegment === undefined ? undefined : `${duration(upstream.secondsSinceNewSegment)} ago`, "Since the upstream listed something new"],
    "Delay": [output.liveEdge && now && status.state !== "outage" ? duration(now - Date.parse(output.liveEdge) / 1000) : undefined, `The newest media ends at ${output.liveEdge}`],
    "Bit rate": [output.averageBandwidth && `${bitRate(output.averageBandwidth)}, at most ${bitRate(output.bandwidth)}`, `BANDWIDTH ${output.bandwidth}`],
    "Video": [period.video && `${videoName(period.video)} ${period.width}×${period.height}, ${parseFloat(period.frameRate)} fps`, period.video],
    "Audio": [period.audio && audioName(period.audio), period.audio],
    "Rewind": [output.rewindStart && rewindText(output), `${output.segments} segments since ${output.rewindStart}`],
    "Splices": [splice.periods && splice.periods - 1, "Where another clock, picture or sound begins: EXT-X-DISCONTINUITY"],
    "Clients of live.ts": [transportStream.clients, "Open connections"],
    "Running for": [status.uptime && duration(status.uptime), `${Math.round(status.uptime)} s`],
  }).filter(([, [value]]) => value !== undefined && value !== "" && value !== 0);
  fill($("now"), rows.map(([key]) => key).join(), () => rows.flatMap(([key]) => [element("dt", {}, key), element("dd")]));
  rows.forEach(([, [textContent, title]], i) => Object.assign($("now").children[2 * i + 1], { textContent, title }));
  const counted = faults(status);
  fill($("faults"), JSON.stringify(counted), () => counted.length > 0
    ? counted.map(({ what, count, detail }) => element("li", {}, element("b", {}, `${count}`), ` ${what}`, detail ? element("span", {}, ` ${detail}`) : ""))
    : [element("li", { className: "hint" }, "None.")]);
  if (output.firstMediaSequence !== undefined && !player.isPast) player.timeline.trim(output.firstMediaSequence);
}

/** Since when there is media, and how much of that time has some. */
function rewindText(output) {
  const [start, end] = datesOf(output), length = end - start, isPartial = length > output.rewindSeconds + 60;
  return isPartial ? `since ${dateAndTime(start)}: ${duration(output.rewindSeconds)} of ${duration(length)}` : duration(length);
}

/** Without an answer nothing is known of the channel but what it was. */
function showAbsence({ status }) {
  const [word, what, todo] = absence(status, answeredAt);
  $("badge").textContent = word;
  Object.assign($("badge").dataset, { level: 3, state: "" });
  document.body.dataset.away = "";
  $("trouble").hidden = false;
  $("trouble").removeAttribute("data-well");
  showPosition();
  document.body.dataset.ready = "";
  fill($("problems"), what, () => [element("li", { data: { level: 3 } }, element("b", {}, what), element("span", {}, todo))]);
}

async function poll() {
  let answer;
  try {
    answer = await fetch(`status.json${query}`, { cache: "no-store" });
    if (!answer.ok) throw answer;
    status = await answer.json();
    answeredAt = Date.now() / 1000;
    delete document.body.dataset.away;
  } catch (error) {
    showAbsence(error);
    return setTimeout(poll, document.hidden ? 10_000 : 2_000);
  }
  try {
    await loadIdlePrograms();
    showStatus(Date.parse(answer.headers.get("Date")) / 1000);
    bar.still = status.stills && ((date) => address("still.jpg", { at: date, width: 320 }));
    if (status.output?.segments > 0) showDays(status.output);
    // A channel that runs shows its window before it is played; one that is idle is not started by being looked at.
    if (!isOpen && status.output?.segments > 0 && player.timeline.segments.length === 0) await load(status.output);
    if (wanted && !isOpen && !wanted.isTried) {
      wanted.isTried = true;
      open();
    }
    await loadBreaks();
  } catch { /* The media of a channel that begins or ends may not be there. */ } finally { document.body.dataset.ready = ""; }
  setTimeout(poll, document.hidden ? 10_000 : 2_000);
}

async function showName() {
  if (!list) {
    $("name").textContent = "liverelay";
    return;
  }
  $("back").href = list + query;
  $("back").hidden = false;
  const slug = decodeURIComponent(location.pathname.split("/").at(-2));
  const [{ channels }, overview] = await Promise.all([get("channels.json"), get("overview.json").catch(() => ({}))]);
  channel = channels.find((one) => one.slug === slug);
  features = overview.features ?? {};
  $("record").hidden = $("keep").hidden = !features.hasAPI || !features.hasRecordings || !channel;
  $("name").textContent = channel?.name ?? slug;
  document.title = `${channel?.name ?? slug} · liverelay`;
}

// MARK: Recording

async function record(program) {
  const made = await (await import("./record.js")).record({ slug: channel.slug, name: channel.name }, program);
  if (made) notice(`${made.state === "planned" ? "Planned" : "Recording"}: ${made.name}. See Recordings in the list.`);
  if (made) setTimeout(notice, 6_000);
}
$("record").addEventListener("click", () => record());
$("keep").addEventListener("click", () => record(guide.current));

showAddresses();
const named = showName().catch(() => {});
if (!player.isSupported) {
  $("start").hidden = true;
  notice("This browser cannot play it. Use an address below in a player.");
}
poll();

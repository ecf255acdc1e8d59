// The page of a channel.
import { Bar } from "./bar.js";
import { Player } from "./player.js";
import { Subtitles } from "./subtitles.js";
import { Guide } from "./guide.js";
import {
  address, audioName, badge, bitRate, copy, dayOf, duration, element, faults, logo, plural, problems, query, timeOfDay, videoName,
} from "./words.js";

const $ = (id) => document.getElementById(id);
const list = document.documentElement.dataset.list; // where the list of channels is; empty if there is only this one
const video = $("video");
const player = new Player(video, "", query);
const subtitles = new Subtitles(player, $("subtitles"));
const bar = new Bar($("bar"), (position) => player.seek(position));
const guide = new Guide($, list, (date) => watch(date));
let isOpen = false, channel, status, answeredAt; // when liverelay answered last, in seconds since 1970

/** Replaces an element's content only if it differs, so that the page does not move or lose the focus. */
function fill(node, key, make) {
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.replaceChildren(...make());
}

// MARK: Playing

async function open() {
  $("start").hidden = isOpen = true;
  notice("Loading …");
  try {
    video.play().catch(() => {});
    await player.open();
    notice();
    showAudio();
    showQuality();
    subtitles.load().catch(() => {});
    await video.play();
    if (document.activeElement === document.body) $("bar").focus(); // the button that was pressed is gone
  } catch (error) {
    if (error.name === "AbortError" && !player.error) return;
    $("start").hidden = isOpen = false;
    video.pause();
    notice(error.name === "NotAllowedError" ? undefined : error.message);
  }
}

/** Shows what there is to see in place of a picture: the newest still, or the name, and what Play does. */
function showCover() {
  const { output = {}, splice = {}, stills, state } = status;
  const { currentPeriod } = splice;
  const isAudio = currentPeriod !== undefined && !currentPeriod.video;
  const hasStill = stills && output.segments > 0 && !isAudio;
  const age = Date.now() - (Number(video.dataset.posterAt) || 0);
  if (!isOpen && hasStill && age > 10_000) {
    video.dataset.posterAt = Date.now();
    video.poster = address("still.jpg", { width: 960, time: Math.round(Date.now() / 1000) });
  }
  $("cover").hidden = !isAudio && (isOpen || hasStill);
  const words = isAudio ? "Sound without a picture" : ["idle", "failed"].includes(state) ? "Starts when you play"
    : output.segments > 0 ? "" : "Starting";
  fill($("cover"), JSON.stringify([channel?.name, channel?.logo, words]), () => [
    ...channel ? [logo(channel, 96)] : [], element("b", {}, channel?.name ?? ""), element("span", {}, words),
  ]);
}

function notice(text) {
  $("notice").textContent = text ?? "";
  $("notice").hidden = !text;
}

function toggle() {
  if (!isOpen) return open();
  return video.paused ? video.play() : video.pause();
}

const move = (seconds) => isOpen && player.seek(player.position + seconds);

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
  const isLong = output.rewindSeconds > DAY;
  $("day").parentElement.hidden = !isLong;
  if (!isLong) return;
  player.range ||= `?last=${DAY}`;
  const end = Date.parse(output.liveEdge) / 1000, days = [];
  for (let day = midnight(end); day + DAY > end - output.rewindSeconds; day = midnight(day - DAY / 2)) days.push(day);
  fill($("day"), days.join(), () => {
    const { value } = $("day");
    const options = [new Option("Last 24 hours", ""), ...days.map((day) => new Option(dayOf(day), String(day)))];
    for (const option of options) option.selected = option.value === value;
    return options;
  });
}

/** Loads the window: of an archive that reaches farther than the rewind, the last day. */
async function load({ rewindSeconds }) {
  await player.load();
  const { start, end, target } = player.timeline;
  if (player.range || rewindSeconds < end - start + 10 * target) return;
  player.range = `?last=${DAY}`;
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
    await player.show(value === "" ? `?last=${DAY}` : `?start=${day}${isPast ? `&end=${end}` : ""}`, isPast);
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
  const isLive = isOpen && player.isLive;
  $("clock").textContent = isOpen ? timeOfDay(timeline.date(position)) : "–";
  const isWaiting = isOpen && !player.isPast && timeline.isStale && position > player.livePosition - 2 * timeline.target;
  $("behind").textContent = !isOpen ? "" : isLive ? "live"
    : isWaiting ? `nothing new for ${duration(timeline.silence)}` : `${duration(timeline.end - position)} behind`;
  $("break").toggleAttribute("data-now", isOpen && timeline.isInBreak(position));
  $("live").setAttribute("aria-pressed", String(isLive));
  const oldest = timeline.date(timeline.start), isDay = timeline.end - timeline.start > DAY / 2;
  $("oldest").textContent = (isDay ? `${dayOf(oldest)}, ` : "") + timeOfDay(oldest);
  $("newest").textContent = timeOfDay(timeline.date(timeline.end));
}

function showEvents() {
  const { timeline } = player;
  const rows = [
    ...timeline.breaks.map((span) => ({
      ...span, text: `${span.kind === "found" ? "Probably an ad break (no tag)" : "Ad break"}, ${duration(span.end - span.start)}`,
    })),
    ...timeline.gaps.map((span) => ({ ...span, kind: "gap", text: `Missing, ${duration(span.end - span.start)}` })),
  ].sort((a, b) => b.start - a.start);
  const shown = rows.slice(0, 40);
  $("periods").textContent = timeline.periods > 1 ? plural(timeline.periods - 1, "splice") : "";
  fill($("events"), JSON.stringify([shown, rows.length]), () => [
    ...shown.map((row) => {
      const button = element("button", { type: "button" }, element("time", {}, timeOfDay(timeline.date(row.start))), ` ${row.text}`);
      button.addEventListener("click", async () => { if (!isOpen) await open(); player.seek(row.start); });
      return element("li", { data: { kind: row.kind } }, button);
    }),
    ...shown.length === rows.length && shown.length > 0 ? [] : [element("li", { className: "hint" },
      shown.length === 0 ? "No ad break is known, and no gap is listed." : `${rows.length - shown.length} more before these.`)],
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
    button.addEventListener("click", async () => { $("copied").textContent = await copy(text) ? `${label} copied.` : "Cannot be copied here: select it."; });
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
  const { name, text, level } = badge(status.state, status.upstream ? status.state : undefined);
  $("badge").textContent = text;
  Object.assign($("badge").dataset, { level, state: name });
  showCover();
  const found = problems(status);
  $("trouble").hidden = found.length === 0;
  fill($("problems"), JSON.stringify(found.map(({ what, todo }) => [what.replace(/\d+/g, ""), todo])), () =>
    found.map(({ level, what, todo }) => element("li", { data: { level } }, element("b", {}, what), todo ? element("span", {}, todo) : "")));
  found.forEach(({ what }, i) => { $("problems").children[i].firstChild.textContent = what; });
  const { upstream = {}, output = {}, splice = {}, transportStream = {} } = status;
  const period = splice.currentPeriod ?? {};
  const rows = Object.entries({
    "Newest picture": upstream.secondsSinceNewSegment === undefined ? undefined : `${duration(upstream.secondsSinceNewSegment)} ago`,
    "Delay": output.liveEdge && now ? duration(now - Date.parse(output.liveEdge) / 1000) : undefined,
    "Bit rate": output.averageBandwidth && `${bitRate(output.averageBandwidth)}, at most ${bitRate(output.bandwidth)}`,
    "Video": period.video && `${videoName(period.video)} ${period.width}×${period.height}, ${parseFloat(period.frameRate)} fps`,
    "Audio": period.audio && audioName(period.audio),
    "Rewind": output.rewindSeconds && `${duration(output.rewindSeconds)}, ${plural(output.segments, "segment")}`,
    "Splices": splice.periods && splice.periods - 1,
    "Clients of live.ts": transportStream.clients,
    "Running for": status.uptime && duration(status.uptime),
  }).filter(([, value]) => value !== undefined && value !== "" && value !== 0);
  document.body.dataset.ready = "";
  fill($("now"), rows.map(([key]) => key).join(), () => rows.flatMap(([key]) => [element("dt", {}, key), element("dd")]));
  rows.forEach(([, value], i) => { $("now").children[2 * i + 1].textContent = value; });
  const counted = faults(status);
  fill($("faults"), JSON.stringify(counted), () => counted.length > 0
    ? counted.map(({ what, count, detail }) => element("li", {}, element("b", {}, `${count}`), ` ${what}`, detail ? element("span", {}, ` ${detail}`) : ""))
    : [element("li", { className: "hint" }, "None.")]);
  if (output.firstMediaSequence !== undefined && !player.isPast) player.timeline.trim(output.firstMediaSequence);
}

/** Without an answer nothing is known of the channel but what it was. */
function showAbsence() {
  $("badge").textContent = "No answer";
  Object.assign($("badge").dataset, { level: 3, state: "" });
  document.body.dataset.away = "";
  const what = answeredAt ? `liverelay has not answered since ${timeOfDay(answeredAt)}.` : "liverelay does not answer.";
  const todo = answeredAt ? "What is below is from then." : "Is it running, and is the network there?";
  $("trouble").hidden = false;
  fill($("problems"), what, () => [element("li", { data: { level: 3 } }, element("b", {}, what), element("span", {}, todo))]);
}

async function poll() {
  try {
    const answer = await fetch(`status.json${query}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    status = await answer.json();
    answeredAt = Date.now() / 1000;
    delete document.body.dataset.away;
    showStatus(Date.parse(answer.headers.get("Date")) / 1000);
    bar.still = status.stills && ((date) => address("still.jpg", { at: date, width: 320 }));
    if (status.output?.segments > 0) showDays(status.output);
    // A channel that runs shows its window before it is played; one that is idle is not started by being looked at.
    if (!isOpen && status.output?.segments > 0 && player.timeline.segments.length === 0) await load(status.output);
    await loadBreaks();
  } catch { showAbsence(); }
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
  const { channels } = await (await fetch(`${list}web/channels.json${query}`)).json();
  channel = channels.find((one) => one.slug === slug);
  $("name").textContent = channel?.name ?? slug;
  document.title = `${channel?.name ?? slug} · liverelay`;
}

showAddresses();
showName().catch(() => {});
if (!player.isSupported) {
  $("start").hidden = true;
  notice("This browser cannot play it. Use an address below in a player.");
}
poll();

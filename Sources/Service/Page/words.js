// What a channel's status means, in words that an operator can act on. Upstream text is only ever shown as text.

const token = new URLSearchParams(location.search).get("token");
/** The query that addresses of this server carry: the token of the page's own address, if it has one. */
export const query = token ? `?${new URLSearchParams({ token })}` : "";

/** A relative address with a query, and the page's token. */
export const address = (name, values) => `${name}?${new URLSearchParams({ ...values, ...token && { token } })}`;

/** The address of the list's page, from the page of a list or of a channel. */
export const root = new URL(document.documentElement.dataset.list || "./", location.href.replace(/[?#].*$/, ""));

/** A document of the page's server. */
export async function get(name) {
  const answer = await fetch(new URL(`web/${name}${query}`, root), { cache: "no-store" });
  if (!answer.ok) throw Object.assign(new Error(`HTTP ${answer.status}`), { status: answer.status });
  return answer.json();
}

/** The programs of the channel at a path, from one date to another, in seconds since 1970. */
export async function programs(path, start, end) {
  const answer = await fetch(address(`${path}programs.json`, { start: Math.floor(start / 300) * 300, end: Math.ceil(end / 300) * 300 }));
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return (await answer.json()).programs.map(({ title, start, end }) => ({ title, start: Date.parse(start) / 1000, end: Date.parse(end) / 1000 }));
}

/** Fills an element with text and elements. */
export function element(name, properties = {}, ...children) {
  const { data, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  Object.assign(made.dataset, data);
  made.append(...children.filter((child) => child !== undefined && child !== ""));
  return made;
}

const AT_ONCE = 150; // rows that are hidden or shown in one task

/**
 * Shows the rows of a long list that are found, and hides the others, a part in each task. The list is away while many of its
 * rows are hidden, because each would be taken out of the layout by itself.
 * @param rows pairs of an element and whether it is found
 */
export function sift(box, rows) {
  const [shown, others] = [true, false].map((isFound) => rows.filter(([row, found]) => found === isFound && row.hidden === isFound).map(([row]) => row));
  clearTimeout(box.sifting);
  const step = () => {
    for (const row of others.splice(0, AT_ONCE)) row.hidden = true;
    box.hidden = others.length > 0;
    if (!box.hidden) for (const row of shown.splice(0, AT_ONCE)) row.hidden = false;
    document.body.getBoundingClientRect(); // the layout of this part, in this task
    if (others.length + shown.length > 0) box.sifting = setTimeout(step, 0);
  };
  if (others.length > AT_ONCE) {
    box.hidden = true;
    box.sifting = setTimeout(step, 0);
    document.body.getBoundingClientRect();
  } else step();
}

const initials = (name) => name.split(/\s+/).map((word) => [...word][0] ?? "").slice(0, 2).join("").toUpperCase();

/** The logo of a channel, or the first letters of its name. */
export function logo({ logo, name }, size = 48) {
  const fallback = element("span", { className: "logo", ariaHidden: "true" }, initials(name));
  if (!/^(https?:|data:image\/)/i.test(logo ?? "")) return fallback;
  const image = element("img", { className: "logo", alt: "", loading: "lazy", width: size, height: size, referrerPolicy: "no-referrer" });
  image.addEventListener("error", () => image.replaceWith(fallback));
  image.src = logo;
  return image;
}

/** A length of time: "8 s", "3 min 5 s", "2 h 4 min". */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
  return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
}

/** The time of day of a date in seconds since 1970. */
export function timeOfDay(date) {
  return date === undefined ? "" : new Date(date * 1000).toLocaleTimeString([], { hourCycle: "h23" });
}

/** The day of a date in seconds since 1970, such as "Mon 23 Nov". */
export function dayOf(date) {
  return new Date(date * 1000).toLocaleDateString([], { weekday: "short", day: "numeric", month: "short" });
}

/** Day and time of a date in seconds since 1970. */
export const dateAndTime = (date) => `${dayOf(date)}, ${timeOfDay(date).slice(0, 5)}`;

/** What is known of a time without media. */
export const holeName = ({ isAbsence }) => isAbsence ? "liverelay did not run" : "Nothing was published";

export function bitRate(bits) {
  if (!bits) return "–";
  return bits < 1e6 ? `${Math.round(bits / 1e3)} kbit/s` : `${(bits / 1e6).toFixed(1)} Mbit/s`;
}

/** Puts text on the clipboard; false if the browser does not let it. @param near an element that can have the focus */
export async function copy(text, near = document.body) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without https the clipboard belongs to the selection.
    const field = element("textarea", { value: text, className: "offscreen", readOnly: true });
    (near.closest("dialog") ?? document.body).append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    near.focus();
    return isCopied;
  }
}

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

const profiles = { 42: "Baseline", "4d": "Main", 58: "Extended", 64: "High", "6e": "High 10", "7a": "High 4:2:2" };

/** The name of a video codec as in CODECS (RFC 6381): "H.264 High". */
export function videoName(codec) {
  const [kind, detail = ""] = codec.toLowerCase().split(".");
  if (/^avc[13]$/.test(kind)) return ["H.264", profiles[detail.slice(0, 2)]].filter(Boolean).join(" ");
  return /^(hvc1|hev1)$/.test(kind) ? "HEVC" : kind === "av01" ? "AV1" : codec;
}

/** The name of an audio codec as in CODECS. */
export function audioName(codec) {
  const names = { "mp4a.40.2": "AAC", "mp4a.40.5": "HE-AAC", "mp4a.40.29": "HE-AAC v2", "mp4a.40.34": "MP3", "ac-3": "AC-3", "ec-3": "E-AC-3", opus: "Opus", flac: "FLAC" };
  return names[codec.toLowerCase()] ?? codec;
}

const labels = {
  idle: ["Idle", 0], queued: ["Waits", 1], starting: ["Starting", 1], opening: ["Opening", 1], ending: ["Ending", 0],
  running: ["Live", 0], lingering: ["Live", 0], live: ["Live", 0], late: ["Late", 2], outage: ["Outage", 3],
  ended: ["Ended", 1], failed: ["Failed", 3], full: ["Disk", 3],
};

/** A channel's state in a word, and how bad it is: 0 well, 1 changing, 2 at risk, 3 a problem. A failure lasts until a success. */
export function badge(state, channelState, lastFailure) {
  const name = lastFailure || state === "failed" ? "failed" : !channelState || state === "ending" ? state : channelState;
  const [text, level] = labels[name] ?? [name, 1];
  return { name, text, level };
}

/** Why nothing is known but what was, by the status of an answer; undefined: there is none. In a word, a sentence, and what to do. */
export function absence(status, answeredAt) {
  if (status === 401) return ["No access", "The token of this page opens nothing any more.", "Ask whoever runs the server for another one."];
  if (status === 404) return ["Not listed", "The channel is not in the list any more.", "What is shown is from then."];
  return ["No answer", ...answeredAt ? [`liverelay has not answered since ${timeOfDay(answeredAt)}.`, "What is shown is from then."]
    : ["liverelay does not answer.", "Is it running, and is the network there?"]];
}

export const people = ({ openStreams = 0, waitingRequests = 0, secondsSinceViewer }) => {
  if (waitingRequests > 0) return `${waitingRequests} waiting`;
  if (openStreams > 0) return plural(openStreams, "stream");
  if (secondsSinceViewer === undefined) return "no viewer";
  return secondsSinceViewer < 10 ? "watched" : `no viewer for ${duration(secondsSinceViewer)}`;
};

/** What can be done about a failed request, by its kind. */
const remedies = {
  http401: "The upstream wants other credentials. Check its token, cookie or header.",
  http403: "The upstream refuses access. Its token has expired, or this server's address is not allowed.",
  http404: "The URL names nothing any more. Get a new one from the source.",
  http410: "The URL names nothing any more. Get a new one from the source.",
  http429: "The upstream is asked too often. Lower --max-connections, or give it fewer channels.",
  http509: "The upstream limits connections. Lower --max-connections.",
  unresolvedHost: "The host's name is unknown. Check the URL and this server's DNS.",
  refused: "Nothing listens at the upstream's address, or a firewall is in the way.",
  timedOut: "The upstream does not answer in time. Check the network between here and there.",
  reset: "The upstream closes connections. Its proxy or its network is at fault.",
  tlsFailure: "The TLS handshake with the upstream fails. Its TLS may be too old, or something in between is at fault.",
  selfSignedCertificate: "The upstream's certificate is self-signed. Trust it with --ca-file, or set insecure for its URL.",
  untrustedCertificate: "Nobody who is trusted signed the upstream's certificate. Trust it with --ca-file.",
  expiredCertificate: "The upstream's certificate has expired, or this server's clock is wrong.",
  certificateOfAnotherHost: "The upstream's certificate is for another host. Correct the name in the URL.",
  notTLS: "The upstream answers without TLS. Write http in place of https.",
  unresolvedProxy: "The proxy's name is unknown. Check --proxy.",
  proxyRefused: "The proxy does not connect. Check --proxy, and what the proxy permits.",
  notMedia: "The upstream sends something else than media, such as an error page with status 200.",
  notAPlaylist: "The upstream sends something else than a playlist, such as an error page with status 200.",
  malformedPlaylist: "The upstream's playlist breaks the rules. liverelay check says where.",
  shortBody: "Answers end too early. The upstream or its network is overloaded.",
  privateAddress: "The URL leads to a private address, which --deny-private forbids.",
};

function remedy(status) {
  const errors = Object.entries(status.upstream?.requests?.errors ?? {}).sort((a, b) => b[1] - a[1]);
  const found = errors.find(([kind]) => remedies[kind]);
  if (found) return remedies[found[0]];
  return errors.some(([kind]) => /^http5/.test(kind)) ? "The upstream has a fault of its own. Tell its operator." : undefined;
}

/** The last failure of a channel that has not published since: reason, what to do, what happens next. */
export function failure(status) {
  const { state, lastFailure, secondsUntilStart, reason } = status;
  if (!lastFailure && state !== "failed") return undefined;
  const next = ["starting", "queued", "opening"].includes(state) ? "It is tried again now."
    : secondsUntilStart !== undefined ? `It is tried again in ${duration(secondsUntilStart)}.`
      : lastFailure ? "Play tries again." : undefined;
  return { reason: lastFailure?.reason ?? reason ?? "no reason is known", todo: remedy(status) ?? reasonRemedy(lastFailure?.reason), next,
    secondsAgo: lastFailure?.secondsAgo };
}

/** What can be done by the class of a failure, which is all that viewers are told. */
const classRemedies = [
  [/cannot be reached/, "Check its URL, its token and the network. The log names the cause."],
  [/is no channel/, "Its URL leads to something else, such as an error page. Get a new one from the source."],
  [/off the air|for too long/, "Wait, or ask its operator."], [/DRM/, "It cannot be relayed. Ask the source for a clear stream."],
  [/decrypt/, "Its key does not fit. Ask its operator."], [/republished/, "Ask the source for H.264 or HEVC, with AAC."],
  [/stored|recorded/, "Look at the disk of the spool."],
];
const reasonRemedy = (reason = "") => classRemedies.find(([words]) => words.test(reason))?.[1];

/** What is wrong with a channel, worst first: level, what, what to do. */
export function problems(status) {
  const found = [], add = (level, what, todo) => found.push({ level, what, todo });
  const { upstream = {}, output = {}, splice = {}, reason } = status;
  const silent = duration(upstream.secondsSinceNewSegment);
  const failed = failure(status);
  if (failed) {
    add(3, `The channel has failed: ${failed.reason}`, [failed.todo, failed.next].filter(Boolean).join(" "));
    found[0].isFailure = true;
  } else if (status.state === "outage") {
    add(3, `Outage: ${reason ?? `nothing new for ${silent}`}.`,
      remedy(status) ?? "liverelay keeps trying. The rewind can still be watched.");
  } else if (status.state === "late") {
    add(2, `The upstream is late: ${reason ?? `nothing new for ${silent}`}.`,
      remedy(status) ?? "Viewers at the live edge may stall. It becomes an outage if this goes on.");
  } else if (status.state === "opening") {
    add(reason ? 3 : 1, reason ? `The upstream cannot be opened: ${reason}` : "The upstream is being opened.", remedy(status));
  } else if (status.state === "ended") {
    add(1, "The upstream has ended the channel. What was published can still be watched.");
  } else if (status.state === "queued") {
    add(1, "As many channels run as may. This one starts when another one ends.");
  }
  if (output.writeFailure) {
    add(3, `Nothing can be stored: ${output.writeFailure.reason} (${plural(output.writeFailure.segments, "segment")} dropped).`,
      "Free space on the spool's disk, or give another --spool.");
  }
  if (output.rewindEvictionsForDiskFull > 0) {
    add(2, "A full disk has cost the rewind.", "Free space on the spool's disk, or keep less with --dvr.");
  }
  if (upstream.activeSource > 0) {
    add(2, `Backup ${upstream.activeSource} is being shown.`, "The primary is watched, and shown again when it is back.");
  }
  for (const host of upstream.requests?.throttledHosts ?? []) {
    add(2, `A host of the upstream asked for fewer requests ${plural(host.responses, "time")}.`, remedies.http429);
  }
  const unsupported = [...(splice.program?.unsupportedVideo ?? []), ...(splice.program?.unsupportedAudio ?? [])];
  if (unsupported.length > 0) {
    add(2, `Cannot be republished: ${unsupported.join(", ")}.`, "Ask the source for H.264 or HEVC, with AAC.");
  }
  return found.sort((a, b) => b.level - a.level);
}

/** What went wrong since the process began: what, how often. */
/** The rules of docs/rules.md that a side of the channel breaks. */
const broken = (side, { brokenRules = [] }) => brokenRules.map(({ rule, text, count, lastHour }) =>
  [`${side}, rule ${rule}: ${text}`, count, lastHour === count ? "within an hour" : `${lastHour} in the last hour`]);

export function faults(status) {
  const { upstream = {}, output = {}, splice = {} } = status, { requests = {} } = upstream;
  const causes = { leftPlaylist: "left the playlist too early", gap: "marked as gaps by the upstream", gone: "withdrawn",
    overtaken: "too late", permanent: "refused for good", late: "came after a gap in their place" };
  const rows = [
    ["Segments lost", upstream.segmentsLost,
      Object.entries(upstream.segmentsLostByCause ?? {}).filter(([, n]) => n > 0).map(([k, n]) => `${n} ${causes[k] ?? k}`).join(", ")],
    ["Failed requests", Object.values(requests.errors ?? {}).reduce((a, b) => a + b, 0),
      Object.entries(requests.errors ?? {}).map(([kind, n]) => `${n} × ${kind.replace(/^http(\d)/, "HTTP $1")}`).join(", ")],
    ["Seconds of outage", upstream.outageSeconds, "filled with gaps or the slate"],
    ["Changes of source", upstream.failovers, ""],
    ["Playlists that went back", upstream.stalePlaylists, "ignored"],
    ["Numbering that began anew", upstream.sequenceResets, "continued"],
    ["Malformed playlists", upstream.irregularPlaylists, "read nevertheless"],
    ["Segments that could not be used", splice.segmentsSkipped, ""],
    ["Gap segments listed", output.gapSegments, ""],
    ["Segments of the slate", output.slateSegments, ""],
    ["Damaged transport packets", splice.demux?.transportErrors, ""],
    ["Audio gaps and overlaps", splice.audioGapsAndOverlaps, "repaired"],
    ["Timestamps corrected", splice.adjustedTimestamps, ""],
    ["Duplicate frames", splice.duplicateFrames, "dropped"],
    ...broken("The upstream", upstream), ...broken("The output", output),
  ];
  return rows.filter(([, count]) => count > 0).map(([what, count, detail]) => ({ what, count: Math.round(count), detail }));
}

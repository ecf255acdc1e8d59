// The page of a list: its views, and the state of the process that all of them show.
import { List } from "./list.js";
import { absence, element, get, plural } from "./words.js";

const $ = (id) => document.getElementById(id);
const list = new List($);
const views = {
  channels: () => list,
  guide: async () => new (await import("./grid.js")).Grid($("guide"), list),
  recordings: async () => new (await import("./recordings.js")).Recordings($("recordings"), list),
  events: async () => new (await import("./events.js")).Events($("events"), list),
};
const opened = {}; // views that were shown, by name
let current, listed, answeredAt, turn = 0, health = 0; // answeredAt in seconds, health in milliseconds since 1970

/** Shows the view that the address names. */
async function show() {
  const name = location.hash.slice(1) in views ? location.hash.slice(1) : "channels";
  if (opened[current]) opened[current].isShown = false;
  current = name;
  for (const other of Object.keys(views)) $(other).hidden = other !== name;
  for (const link of $("views").children) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  $("find").hidden = !["channels", "guide"].includes(name);
  opened[name] ??= await views[name]();
  if (current !== name) return;
  opened[name].isShown = true;
  opened[name].update();
}

/** Adds what the server and the viewer's token permit. */
function showFeatures({ hasGuide, hasAPI }) {
  $("views").querySelector("[href='#guide']").hidden = !hasGuide;
  $("views").querySelector("[href='#events']").hidden = !hasAPI;
}

/** Without an answer nothing is known of the channels but what they were. */
function showAbsence({ status }) {
  const [word, what, todo] = absence(status, answeredAt);
  document.body.dataset.away = document.body.dataset.ready = "";
  $("summary").textContent = word;
  fillTroubles(what, [element("li", { data: { level: 3 } }, element("b", {}, what), ` ${todo}`)]);
}

function fillTroubles(key, rows, isWell = false) {
  const box = $("troubles");
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.toggleAttribute("data-well", isWell);
  box.firstChild.tabIndex = isWell ? -1 : 0; // it can be scrolled
  box.firstChild.replaceChildren(...rows);
}

/** What is wrong, above the list, whose order does not change. */
function showTroubles() {
  const rows = [...list.running.keys(), ...Object.keys(list.failures)].flatMap((slug) => {
    const channel = list.wanted?.get(slug), { text, level, reason } = list.state({ slug });
    return channel && level > 1 ? [{ channel, text, level, reason }] : [];
  }).sort((a, b) => b.level - a.level);
  const shown = rows.slice(0, 6);
  fillTroubles(JSON.stringify([shown, rows.length]), [
    ...shown.map(({ channel, text, level, reason }) => element("li", { data: { level } },
      element("a", { href: list.address(channel) }, channel.name), ` ${text}`, reason ? element("span", { title: reason }, `: ${reason}`) : "")),
    ...rows.length === 0 ? [element("li", {}, "No channel is known to have a problem.")] : [],
    ...rows.length > shown.length ? [element("li", {}, `and ${rows.length - shown.length} more`)] : [],
  ], rows.length === 0);
}

function showSummary({ running, failed }) {
  const text = [plural(list.channels.length, "channel"), `${running} running`, ...failed ? [`${failed} failed`] : []].join(", ");
  if ($("summary").textContent !== text) $("summary").textContent = text;
}

async function poll() {
  try {
    const overview = await get("overview.json");
    list.take(overview);
    if (overview.listed !== listed || turn++ % 20 === 0) {
      list.setChannels((await get("channels.json")).channels);
      listed = overview.listed;
    }
    showFeatures(overview.features);
    if (Date.now() - health > 60_000) {
      health = Date.now();
      get("health.json").then((history) => list.setHealth(history)).catch(() => { health = 0; });
    }
    answeredAt = Date.now() / 1000;
    document.body.dataset.ready = "";
    delete document.body.dataset.away;
    showTroubles();
    showSummary(overview);
    opened[current]?.update();
  } catch (error) {
    if (!(error instanceof TypeError) && !error.status) throw error; // neither the network nor the server
    showAbsence(error);
  } finally { setTimeout(poll, document.hidden ? 15_000 : 3_000); }
}

addEventListener("hashchange", show);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || $("find").hidden || event.target.closest("input, dialog")) return;
  event.preventDefault();
  $("search").focus();
});
$("connect").addEventListener("click", async () => (await import("./connect.js")).connect(list));
show();
poll();

// The recordings: a panel of the list, which is there if there are any.
import { duration, element, query } from "./words.js";

const panel = element("details", { hidden: true, open: true, className: "card recordings" });
const rows = element("tbody");
panel.append(element("summary", {}, "Recordings"), element("table", {},
  element("thead", {}, element("tr", {}, ...["Name", "Channel", "State", "Time", "Size", "Missing"].map((title) => element("th", { scope: "col" }, title)))), rows));
document.querySelector("main").append(panel);

const date = new Intl.DateTimeFormat([], { dateStyle: "short", timeStyle: "short" });

function row(recording) {
  const { name, channel, state, reason, start, end, bytes, lostSeconds, playlist } = recording;
  const title = playlist ? element("a", { href: playlist.slice(1) + query }, name) : name;
  return element("tr", {}, ...[
    title, channel, state, end ? date.formatRange(new Date(start), new Date(end)) : `${date.format(new Date(start))} –`,
    bytes ? `${(bytes / 1e6).toFixed(1)} MB` : "–", lostSeconds ? duration(lostSeconds) : "–",
  ].map((cell, i) => element("td", i === 2 && reason ? { title: reason } : {}, cell)));
}

// Beside this file, wherever the visitor goes within the page.
const source = new URL(`recordings.json${query}`, import.meta.url);

async function poll() {
  try {
    const answer = await fetch(source, { cache: "no-store" });
    if (answer.ok) {
      const { recordings } = await answer.json();
      rows.replaceChildren(...recordings.reverse().map(row));
      panel.hidden = recordings.length === 0;
    }
  } catch { /* The overview says that the server does not answer. */ }
  setTimeout(poll, document.hidden ? 60_000 : 10_000);
}
poll();

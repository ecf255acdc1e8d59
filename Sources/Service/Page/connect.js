// How other programs get the channels: addresses, each with the programs that take it.
import { dialog } from "./api.js";
import { copy, element, query, root } from "./words.js";

export function connect({ features }) {
  const at = (name) => new URL(name, root).href, credentials = (name) => at(name + (query ? (name.includes("?") ? query.replace("?", "&") : query) : ""));
  const token = new URLSearchParams(query).get("token");
  const rows = [
    ["M3U", credentials("playlist.m3u"), "Safari, hls.js, Kodi, TiviMate: HLS"],
    ["M3U as TS", credentials("playlist.m3u?format=ts"), "Jellyfin, Emby, tvheadend, Channels, Kodi's IPTV Simple Client, VLC, mpv"],
    ...features.hasGuide ? [["XMLTV", credentials("epg.xml"), "The guide, for Plex, Jellyfin, Emby, tvheadend, Channels"]] : [],
    ["HDHomeRun", root.host, "Plex: “enter its network address manually”. Jellyfin, Emby: with http:// before it"],
    ["Xtream Codes", at("").replace(/\/$/, ""), `TiviMate, IPTV Smarters: this as server, any user name, as password ${token ? "the token of this page" : "anything"}`],
  ];
  const said = element("p", { className: "hint", role: "status" });
  return dialog("Connect a program", [element("ul", { className: "addresses" }, ...rows.map(([label, text, what]) => {
    const button = element("button", { type: "button", ariaLabel: `Copy ${label}` }, "Copy");
    button.addEventListener("click", async () => { said.textContent = await copy(text, button) ? `${label} copied.` : "Cannot be copied here: select it."; });
    return element("li", {}, element("span", {}, element("b", {}, label), ` ${what}`), element("code", {}, text), button);
  })), said, element("p", { className: "hint" }, "Each channel's page has addresses of its own.")], undefined, { cancel: "Close" });
}

// Who watches a channel: how many for all, and who by the API's token.
import { explain, hasToken, request } from "./api.js";
import { duration, element, plural } from "./words.js";

export class Viewers {
  constructor(panel) {
    Object.assign(this, { panel, said: panel.querySelector("p"), list: panel.querySelector("ul"), who: panel.querySelector("button") });
    this.slug = decodeURIComponent(location.pathname.split("/").at(-2));
    this.who.addEventListener("click", () => this.load().catch(explain));
  }

  /** Shows what the status says, and who it is if the token is known. */
  show(status, hasAPI) {
    const streams = status.transportStream?.clients ?? 0;
    const text = `${streams > 0 ? plural(streams, "stream") : "No stream"} of live.ts. Players of playlists have no connection, and are not counted.`;
    this.panel.hidden = !status.output;
    if (this.said.textContent !== text) this.said.textContent = text;
    this.who.hidden = !hasAPI || hasToken();
    if (hasAPI && hasToken() && !this.panel.hidden) this.load().catch(() => {});
  }

  async load() {
    const answer = await request("GET", "viewers");
    if (!answer) return;
    const viewers = (await answer.json()).viewers.filter(({ channel }) => channel === this.slug);
    const key = JSON.stringify(viewers.map(({ id }) => id));
    if (this.list.dataset.key !== key) {
      this.list.dataset.key = key;
      this.list.className = "viewers";
      this.list.replaceChildren(...viewers.map((viewer) => {
        const button = element("button", { type: "button", ariaLabel: `End the stream of ${viewer.address ?? "this viewer"}` }, "End");
        button.addEventListener("click", () => request("DELETE", `viewers/${viewer.id}`).then(() => this.load()).catch(explain));
        return element("li", {}, element("span", {}, element("b", {}, viewer.address ?? "?"), ` ${viewer.userAgent ?? ""}`), element("span", { className: "since" }), button);
      }));
    }
    viewers.forEach(({ seconds }, i) => { this.list.children[i].querySelector(".since").textContent = duration(seconds); });
  }
}

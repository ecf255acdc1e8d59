// The programs of the guide under the bar, and what can be done with the one at the position.
import { address, element, timeOfDay } from "./words.js";

const AGE = 300_000; // milliseconds after which the programs are asked for again

export class Guide {
  programs = [];
  current = undefined;

  /** @param watch called with a date to play from */
  constructor($, list, watch) {
    Object.assign(this, { strip: $("guide"), row: $("program"), title: $("title"), times: $("times"), download: $("download"), list, watch });
    this.strip.addEventListener("click", ({ target }) => {
      const program = this.programs.find(({ start }) => String(start) === target.dataset.start);
      if (program) watch(this.begin(program));
    });
    $("begin").addEventListener("click", () => this.current && watch(this.begin(this.current)));
  }

  /** Where the media of a program begins that is known. */
  begin({ start }) { return Math.max(start, this.first); }

  /** Plays the program before or after the one at the position. */
  move(step) {
    const next = this.programs[this.programs.indexOf(this.current) + step];
    if (next && next.start < this.last) this.watch(this.begin(next));
  }

  /** Shows the programs of a window, and the one at a position. */
  update(timeline, position) {
    Object.assign(this, { timeline, position });
    [this.first, this.last] = [timeline.date(timeline.start), timeline.date(timeline.end)];
    if (!this.list || this.first === undefined) return;
    this.load();
    const shown = this.programs.filter(({ start, end }) => end > this.first && start < this.last);
    const date = timeline.date(position);
    this.current = shown.find(({ start, end }) => start <= date && date < end);
    this.strip.hidden = shown.length === 0;
    this.draw(timeline, shown);
    shown.forEach((program, i) => this.strip.children[i].toggleAttribute("data-now", program === this.current));
    this.showCurrent();
  }

  /** Places the programs below the bar, if others are shown or the window has moved. */
  draw(timeline, shown) {
    const key = JSON.stringify([timeline.start, timeline.end, shown]);
    if (this.strip.dataset.key === key) return;
    this.strip.dataset.key = key;
    const length = Math.max(1, timeline.end - timeline.start);
    const share = (date) => Math.min(100, Math.max(0, (timeline.position(date) - timeline.start) / length * 100));
    this.strip.replaceChildren(...shown.map(({ title, start, end }) => {
      const block = element("span", { title, data: { start } }, title);
      Object.assign(block.style, { left: `${share(start)}%`, width: `${share(end) - share(start)}%` });
      return block;
    }));
  }

  showCurrent() {
    const { current } = this;
    this.row.hidden = this.strip.hidden;
    this.row.style.visibility = current ? "visible" : "hidden";
    if (!current) return;
    this.title.textContent = current.title;
    this.times.textContent = `${timeOfDay(current.start).slice(0, 5)} – ${timeOfDay(current.end).slice(0, 5)}`;
    // A file has an end that is published.
    this.download.hidden = current.end > this.last;
    const wanted = address("clip.mp4", { start: this.begin(current), end: current.end });
    if (this.download.getAttribute("href") !== wanted) this.download.href = wanted;
  }

  /** Asks for the programs of the window, if they are not known or old. */
  async load() {
    // Whole hours, so that the window is asked for once an hour.
    const wanted = address("programs.json", { start: Math.floor(this.first / 3600) * 3600, end: Math.ceil(this.last / 3600) * 3600 });
    if (this.wanted === wanted && Date.now() - this.time < AGE) return;
    Object.assign(this, { wanted, time: Date.now() });
    try {
      const answer = await fetch(wanted);
      if (!answer.ok) return;
      const { programs } = await answer.json();
      this.programs = programs.map(({ title, start, end }) => ({ title, start: Date.parse(start) / 1000, end: Date.parse(end) / 1000 }));
      this.update(this.timeline, this.position);
    } catch { /* It is asked for again. */ }
  }
}

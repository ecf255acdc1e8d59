// The rewind bar: the whole window with its ad breaks, periods and gaps, as a slider for pointer, keyboard and reader.
import { dateAndTime, dayOf, duration, element, holeName, timeOfDay } from "./words.js";

const STILL_STEP = 4; // seconds: pictures are those of key frames
const AXIS = [10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400]; // seconds between labels
const STEPS = { ArrowLeft: -10, ArrowDown: -10, ArrowRight: 10, ArrowUp: 10, PageDown: -60, PageUp: 60 };

export class Bar {
  drag = undefined;
  still = undefined; // returns the address of the picture of a date; none if there are no pictures

  /** @param seek called with a position when the user chooses one; move with seconds */
  constructor(root, seek, move) {
    Object.assign(this, { root, seek, move, canvas: root.querySelector("canvas"), tip: root.querySelector("output") });
    [this.picture, this.label] = this.tip.children;
    root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.timeline) return;
      root.setPointerCapture(event.pointerId);
      this.drag = this.positionAt(event);
      this.draw();
    });
    root.addEventListener("pointermove", (event) => {
      this.hover = this.positionAt(event);
      if (this.drag !== undefined) this.drag = this.hover;
      this.draw();
    });
    root.addEventListener("pointerup", () => {
      if (this.drag !== undefined) this.seek(this.drag);
      this.drag = undefined;
    });
    root.addEventListener("pointercancel", () => { this.drag = undefined; });
    root.addEventListener("pointerleave", () => { this.hover = undefined; this.draw(); });
    root.addEventListener("keydown", (event) => {
      if (!this.timeline || event.ctrlKey || event.metaKey || event.altKey) return;
      const step = STEPS[event.key];
      if (step) this.move(step);
      else if (event.key === "Home") this.seek(this.timeline.start);
      else if (event.key === "End") this.seek(this.timeline.end);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    new ResizeObserver(() => this.draw()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** A date, with its day on a long axis. */
  moment(date) { return this.timeline.end - this.timeline.start > 43_200 ? dateAndTime(date) : timeOfDay(date); }

  /** Labels under the axis: times, or days where one begins. */
  showAxis(axis) {
    const { timeline } = this, first = timeline.date(timeline.start), last = timeline.date(timeline.end);
    const least = (last - first) / 6, step = AXIS.find((seconds) => seconds >= least) ?? 86_400 * Math.ceil(least / 86_400);
    const margin = Math.min(0.4, (dayOf(first) === dayOf(last) ? 90 : 165) / axis.clientWidth), zone = new Date(first * 1000).getTimezoneOffset() * 60, labels = [];
    const label = (date) => (date - zone) % 86_400 === 0 ? dayOf(date) : timeOfDay(date).slice(0, step < 60 ? 8 : 5);
    for (let date = Math.ceil((first - zone) / step) * step + zone; date < last; date += step) {
      const share = (timeline.position(date) - timeline.start) / (timeline.end - timeline.start);
      if (share > margin && share < 1 - margin) labels.push([share, label(date)]);
    }
    const key = JSON.stringify(labels);
    if (axis.dataset.key === key) return;
    axis.dataset.key = key;
    axis.replaceChildren(...labels.map(([share, text]) => {
      const label = element("span", {}, text);
      label.style.left = `${(share * 100).toFixed(2)}%`;
      return label;
    }));
  }

  positionAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return this.timeline ? this.timeline.start + share * (this.timeline.end - this.timeline.start) : 0;
  }

  /** Shows a window, the position in it, and how far is buffered. */
  update(timeline, position, bufferedUntil) {
    Object.assign(this, { timeline, position, bufferedUntil });
    this.root.dataset.filled = "";
    const at = position ?? timeline.end, behind = Math.max(0, timeline.end - at);
    this.root.setAttribute("aria-valuemin", "0");
    this.root.setAttribute("aria-valuemax", String(Math.round(timeline.end - timeline.start)));
    this.root.setAttribute("aria-valuenow", String(Math.round(at - timeline.start)));
    this.root.setAttribute("aria-valuetext",
      `${timeOfDay(timeline.date(at))}, ${duration(behind)} behind the newest${timeline.isInBreak(at) ? ", in an ad break" : ""}`);
    this.draw();
  }

  draw() {
    const { canvas, timeline } = this, box = canvas.getBoundingClientRect();
    if (!timeline || box.width === 0) return;
    const ratio = devicePixelRatio || 1, context = canvas.getContext("2d");
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const style = getComputedStyle(this.root), color = (name) => style.getPropertyValue(`--${name}`);
    const length = Math.max(1, timeline.end - timeline.start);
    // All parts have whole pixels, and what is marked stands apart from what is played and what is not by a line of the ground.
    const x = (position) => Math.round((position - timeline.start) / length * width), line = Math.ceil(2 * ratio);
    const fill = (name, { start, end }, top, bottom, least = line) => {
      context.fillStyle = color(name);
      context.fillRect(x(start), Math.round(top * height), Math.max(least, x(end) - x(start)), Math.round((bottom - top) * height));
    };
    const clear = (start, length) => context.clearRect(start - line, 0, length + 2 * line, height);
    context.clearRect(0, 0, width, height);
    const position = this.drag ?? this.position;
    fill("track", timeline, 0.3, 0.7);
    if (position !== undefined) fill("played", { start: timeline.start, end: position }, 0.3, 0.7, 0);
    const mark = (name, span, top, bottom) => {
      const long = x(span.end) - x(span.start);
      clear(x(span.start), Math.max(line, long));
      fill(name, span, top, bottom);
      if (name === "found" && long > 4 * line) context.clearRect(x(span.start) + line, top * height + line, long - 2 * line, (bottom - top) * height - 2 * line);
    };
    for (const span of timeline.breaks) mark(span.kind, span, 0.24, 0.76);
    for (const span of timeline.gaps) mark("gap", span, 0.2, 0.8);
    for (const span of timeline.holes) mark("hole", span, 0.46, 0.54); // a thin line
    const marks = timeline.discontinuities;
    for (const at of marks) {
      if (marks.length < width / 24) clear(x(at), line);
      fill("period", { start: at, end: at }, 0.16, 0.84, marks.length > width / 6 ? 1 : line);
    }
    if (position !== undefined) {
      const at = Math.min(Math.max(x(position), 2 * line), width - 2 * line);
      clear(at - 2 * line, 4 * line);
      context.fillStyle = color("knob");
      context.beginPath();
      context.roundRect(at - 2 * line, 0.06 * height, 4 * line, 0.88 * height, 2 * line);
      context.fill();
    }
    const shown = this.drag ?? this.hover;
    this.tip.hidden = shown === undefined;
    if (shown === undefined) return;
    const hole = timeline.holes.find(({ start, end }) => start <= shown && shown < end), date = timeline.date(shown);
    this.showStill(hole ? undefined : date);
    this.label.textContent = hole ? `${holeName(hole)}, ${duration(hole.end - hole.start)}` : `${this.moment(date)} · −${duration(timeline.end - shown)}`;
    const half = this.tip.offsetWidth / 2;
    this.tip.style.transform = `translateX(${Math.min(Math.max(x(shown) / ratio, half), box.width - half) - half}px)`;
  }
  /** Shows the picture of a date. One is loaded at a time, and after it the one that is wanted by then. */
  async showStill(date) {
    this.wanted = this.still && date !== undefined ? this.still(Math.floor(date / STILL_STEP) * STILL_STEP) : undefined;
    if (this.wanted === undefined) [this.picture.hidden, this.shown] = [true, undefined];
    if (this.isLoading || this.wanted === this.shown) return;
    this.isLoading = true;
    while (this.wanted !== this.shown && this.wanted !== undefined) {
      const image = new Image(), { wanted } = this;
      image.src = wanted;
      const isThere = await image.decode().then(() => true, () => false);
      if (isThere) this.picture.src = wanted; // the browser has it
      this.picture.hidden = !isThere;
      this.shown = wanted;
    }
    this.isLoading = false;
  }
}

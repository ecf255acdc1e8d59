// Asks how something is recorded, and asks the API for it.
import { dialog, explain, field, request } from "./api.js";
import { dateAndTime, element, timeOfDay } from "./words.js";

const choice = (name, rows) => element("select", { name }, ...rows.map(([value, text]) => new Option(text, value)));
const minutes = (name, value) => element("input", { name, type: "number", min: 0, max: 600, step: 1, value, inputMode: "numeric" });

/** Records a program of the guide, or from now on. Returns the recording; undefined if the user left it. */
export async function record({ slug, name }, program) {
  const isPast = program && program.end < Date.now() / 1000;
  const title = element("input", { name: "name", value: program?.title ?? name, required: true, maxLength: 200 });
  const span = program
    ? [element("p", {}, `${dateAndTime(program.start)} – ${timeOfDay(program.end).slice(0, 5)}, ${name}`),
      element("div", { className: "pair" }, field("Minutes before", minutes("before", 0)), field("Minutes after", minutes("after", isPast ? 0 : 5)))]
    : [field("For", choice("duration", [["10m", "10 minutes"], ["30m", "30 minutes"], ["1h", "1 hour"], ["2h", "2 hours"], ["4h", "4 hours"], ["12h", "12 hours"]]), `From now on, ${name}. It can be stopped before.`)];
  const repeats = [["", "once"], ["daily", "each day at this time"], ["weekly", "each week at this time"]];
  const answer = await dialog(program ? "Record this program" : "Record from now on", [
    field("Name", title), ...span,
    ...isPast ? [] : [field("Repeat", choice("repeat", program ? [["", "once"], ["title", "each program with this title"], ...repeats.slice(1)] : repeats))],
    element("label", { className: "check" }, element("input", { type: "checkbox", name: "keep" }), " Keep it: nothing removes it by itself"),
  ], "Record");
  if (!answer) return undefined;
  const body = { channel: slug, name: answer.get("name"), keep: answer.has("keep"), ...answer.get("repeat") && { repeat: answer.get("repeat") } };
  if (program) {
    Object.assign(body, { programme: Math.ceil(program.start) + 1, before: `${Number(answer.get("before"))}m`, after: `${Number(answer.get("after"))}m` });
  } else { body.duration = answer.get("duration"); }
  try {
    return await (await request("POST", "recordings", { body }))?.json();
  } catch (error) { await explain(error); }
  return undefined;
}

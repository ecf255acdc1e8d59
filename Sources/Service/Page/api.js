// Requests to the API, with its token, which is asked for once and kept while the page is open.
import { element, root } from "./words.js";

const KEY = "liverelay.api"; // in the storage of this tab, which ends with it
let secret = sessionStorage.getItem(KEY);

/** Shows a dialog, and returns what its form was submitted with; undefined if it was left. */
export function dialog(title, content, submit, { isDanger = false, cancel = "Cancel" } = {}) {
  const form = element("form", { method: "dialog" }, element("h2", {}, title), ...content, element("div", { className: "actions" },
    element("button", { type: "button", className: "cancel" }, cancel), ...submit ? [element("button", { value: "done", className: isDanger ? "danger" : "primary" }, submit)] : []));
  const box = element("dialog", { ariaLabel: title }, form);
  form.querySelector(".cancel").addEventListener("click", () => box.close());
  document.body.append(box);
  box.showModal();
  return new Promise((resolve) => box.addEventListener("close", () => {
    box.remove();
    resolve(box.returnValue === "done" ? new FormData(form) : undefined);
  }));
}

/** A field of a dialog with its label. */
export function field(label, control, hint) {
  return element("label", { className: "field" }, element("span", {}, label), control, hint ? element("small", {}, hint) : "");
}

let asking;
async function ask(isWrong) {
  const input = element("input", { name: "token", type: "password", required: true, autocomplete: "off" });
  const answer = await dialog("Token of the API", [
    ...isWrong ? [element("p", { className: "wrong", role: "alert" }, "This token opens nothing here.")] : [],
    element("p", { className: "hint" }, "It permits recording and what changes the server. It is the one of --api-token, kept while this page is open."),
    field("Token", input)], "Go on");
  return answer?.get("token").trim();
}

export const hasToken = () => secret !== null;

/** What was refused, in the words of the server. */
export class Refusal extends Error {}

/** Performs a request, and returns the answer. The user may leave the question for the token: then undefined. */
export async function request(method, path, { body, signal, isQuiet = false } = {}) {
  for (let isWrong = false; ; isWrong = true) {
    if (secret === null) {
      if (isQuiet) return undefined;
      asking ??= ask(isWrong).finally(() => { asking = undefined; });
      const given = await asking;
      if (!given) return undefined;
      secret = given;
    }
    const answer = await fetch(new URL(`api/${path}`, root), {
      method, signal, cache: "no-store", body: body && JSON.stringify(body),
      headers: { Authorization: `Bearer ${secret}`, ...body && { "Content-Type": "application/json" } },
    });
    if (answer.status === 401) {
      sessionStorage.removeItem(KEY);
      secret = null;
      continue;
    }
    sessionStorage.setItem(KEY, secret);
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => ({}));
    throw new Refusal(problem.detail ?? problem.title ?? `HTTP ${answer.status}`);
  }
}

/** Says in a dialog why a request was refused. */
export const explain = (error) => dialog("That was refused", [element("p", {}, error.message)], undefined, { cancel: "Close" });

// Deep links: what the part after `#` says. Pure.

export const VIEWS = ["timeline", "charts", "patch", "episodes", "result"];

/** `#run=abc&view=charts` -> {page, ...}; whatever is not understood falls back to the list of runs. */
export function parse(hash) {
  const fields = fieldsOf(hash);
  if (fields.has("run")) {
    const view = fields.get("view") ?? "timeline";
    return {
      page: "run",
      run: fields.get("run"),
      view: VIEWS.includes(view) ? view : "timeline",
      seq: number(fields.get("seq")),
    };
  }
  if (fields.has("compare")) {
    const names = fields.get("compare").split(",").map(decoded).filter(Boolean);
    return { page: "compare", reports: names.slice(0, 2) };
  }
  if (fields.has("eval")) return { page: "eval", report: fields.get("eval") };
  if (fields.has("evals")) return { page: "evals" };
  if (fields.has("start")) return { page: "start" };
  const list = { page: "runs" };
  for (const name of ["q", "status", "kind"]) if (fields.get(name)) list[name] = fields.get(name);
  if (fields.has("evalruns")) list.evalruns = true;
  return list;
}

/** The hash of a place; `parse(format(place))` is that place. */
export function format(place) {
  const parts = [];
  const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
  if (place.page === "run") {
    add("run", place.run);
    if (place.view && place.view !== "timeline") add("view", place.view);
    if (place.seq) add("seq", place.seq);
  } else if (place.page === "compare") {
    parts.push(`compare=${place.reports.map((one) => encodeURIComponent(encodeURIComponent(one))).join(",")}`);
  } else if (place.page === "eval") add("eval", place.report);
  else if (place.page === "evals") parts.push("evals");
  else if (place.page === "start") parts.push("start");
  else {
    for (const name of ["q", "status", "kind"]) if (place[name]) add(name, place[name]);
    if (place.evalruns) parts.push("evalruns");
  }
  return `#${parts.join("&")}`;
}

function fieldsOf(hash) {
  const fields = new Map();
  for (const part of String(hash).replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const name = at < 0 ? part : part.slice(0, at);
    if (name && !fields.has(name)) fields.set(name, at < 0 ? "" : decoded(part.slice(at + 1)));
  }
  return fields;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function number(text) {
  return /^\d{1,9}$/.test(text ?? "") ? Number(text) : undefined;
}

// Numbers, times and hostile text as a person reads them. Pure.

// Controls, zero-width and direction marks, and the invisible "tag" letters of plane 14.
const CONTROL =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Text with its invisible and direction-turning characters spelled out, so that nothing hides. */
export function visible(text) {
  return String(text).replace(CONTROL, (char) => {
    const code = char.codePointAt(0);
    if (code === 0x1b) return "␛";
    return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
  });
}

/** At most `most` characters, cut in the middle with a note of how many are left out. */
export function shortened(text, most) {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const left = text.length - 2 * half;
  return `${whole(text.slice(0, half))}\n… ${count(left)} characters left out …\n${whole(text.slice(-half))}`;
}

/** One line of at most `most` characters. */
export function oneLine(text, most = 120) {
  const line = visible(String(text).slice(0, most * 4)).replace(/\s+/g, " ").trim();
  return line.length > most ? `${whole(line.slice(0, most - 1))}…` : line;
}

/** Without half of a surrogate pair at either end. */
function whole(text) {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}

/** Seconds as `0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`; unknown is a dash. */
export function seconds(value) {
  if (!isNumber(value)) return "–";
  if (value < 0.0005) return "0 s";
  if (value < 0.1) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 100) return `${Math.round(value)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${pad(Math.floor(value % 60))} s`;
  return `${Math.floor(value / 3600)} h ${pad(Math.floor((value % 3600) / 60))} min`;
}

/** 12,345; unknown is a dash, which is not zero. */
export function count(value) {
  if (!isNumber(value)) return "–";
  return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function bytes(value) {
  if (!isNumber(value)) return "–";
  if (value < 1000) return `${count(value)} bytes`;
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)} kB`;
  return `${(value / 1e6).toFixed(1)} MB`;
}

/** 0.5 -> `50 %`; not measured is a dash. */
export function percent(value, digits = 0) {
  return isNumber(value) ? `${(value * 100).toFixed(digits)} %` : "–";
}

/** `[0.1, 0.5]` or `{low, high}` -> `10–50 %`. */
export function interval(value) {
  const [low, high] = Array.isArray(value) ? value : [value?.low, value?.high];
  if (!isNumber(low) || !isNumber(high)) return "not measured";
  return `${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)} %`;
}

/** `2026-11-29T19:45:04.249Z` -> `2026-11-29 19:45:04`, UTC as it is recorded. */
export function stamp(iso) {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(String(iso ?? ""));
  return found ? `${found[1]} ${found[2]}` : "–";
}

export function clock(iso) {
  const found = /T(\d\d:\d\d:\d\d)/.exec(String(iso ?? ""));
  return found ? found[1] : "–";
}

/** Seconds between two recorded times; null where one is missing. */
export function between(from, to) {
  const span = (Date.parse(to) - Date.parse(from)) / 1000;
  return Number.isFinite(span) ? Math.max(0, span) : null;
}

export function plural(n, word, many = `${word}s`) {
  return `${count(n)} ${n === 1 ? word : many}`;
}

export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function pad(n) {
  return String(n).padStart(2, "0");
}

/** Where `needle` stands in `text`, any case: at most `most` places of [from, to]. */
export function places(text, needle, most = 500) {
  const found = [];
  if (!needle) return found;
  const low = text.toLowerCase();
  const wanted = needle.toLowerCase();
  // Some letters change their length in lower case; then the places would be off.
  if (low.length !== text.length) return found;
  for (let at = low.indexOf(wanted); at >= 0 && found.length < most; at = low.indexOf(wanted, at + wanted.length)) {
    found.push([at, at + wanted.length]);
  }
  return found;
}

/** Pieces of a text of at most `size` characters, cut at line ends where there are any. */
export function pieces(text, size) {
  const found = [];
  let at = 0;
  while (at < text.length) {
    let end = Math.min(text.length, at + size);
    if (end < text.length) {
      const line = text.lastIndexOf("\n", end - 1);
      if (line > at) end = line + 1;
      else if (/[\ud800-\udbff]/.test(text[end - 1])) end -= 1;
    }
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

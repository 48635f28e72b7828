// A patch, as the server has parsed it, in rows that a list can draw. Pure.

const MAX_LINE = 4_000;

/** All rows of a patch in one flat list: a file's head, its hunks, their lines (or pairs of them). */
export function flat(files, two = false) {
  const found = [];
  for (const file of files) {
    found.push({ kind: "file", name: nameOf(file), file });
    if (file.binary) found.push({ kind: "note", text: "A binary file: its bytes are not shown." });
    for (const hunk of file.hunks ?? []) {
      found.push({ kind: "hunk", text: hunk.header ?? "" });
      if (two) for (const [left, right] of hunk.rows ?? []) found.push(pair(hunk.lines, left, right));
      else for (const line of hunk.lines ?? []) found.push({ kind: "line", line });
    }
  }
  return found.map((row, at) => ({ ...row, id: at }));
}

function pair(lines, left, right) {
  return { kind: "pair", left: lines[left] ?? null, right: lines[right] ?? null };
}

/** `old → new` where a file was renamed, else its one name. */
export function nameOf(file) {
  if (file.old && file.new && file.old !== file.new) return `${file.old} → ${file.new}`;
  return file.new ?? file.old ?? "?";
}

/** What the sign of a line means, in words for those who do not see colours. */
export function meaning(line) {
  if (line.kind === "+") return line.ran === true ? "added, ran" : "added";
  if (line.kind === "-") return "deleted";
  return "";
}

/** A line of code as it is shown: one of megabytes is cut. */
export function shownLine(text) {
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)} … (${text.length - MAX_LINE} more characters: download the patch)` : text;
}

/** Sums over files: how many lines were added, deleted, and how many of the added ones ran. */
export function summed(files) {
  const sum = { files: files.length, added: 0, removed: 0, ran: 0 };
  for (const file of files) {
    sum.added += file.added ?? 0;
    sum.removed += file.removed ?? 0;
    for (const hunk of file.hunks ?? []) {
      for (const line of hunk.lines ?? []) {
        if (line.kind === "+" && line.ran === true) sum.ran += 1;
      }
    }
  }
  return sum;
}

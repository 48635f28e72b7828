/** Versions like 1.2.3-beta.1: read, compared and raised. */

const SHAPE = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/

export function parse(text) {
  const match = SHAPE.exec(text.trim())
  if (!match) throw new TypeError(`no version: ${text}`)
  const [, major, minor, patch, pre] = match
  return { major: Number(major), minor: Number(minor), patch: Number(patch), pre: pre ? pre.split('.') : [] }
}

/** Negative, zero or positive, for sorting. */
export function compare(a, b) {
  const left = parse(a)
  const right = parse(b)
  for (const part of ['major', 'minor', 'patch']) {
    if (left[part] !== right[part]) return left[part] - right[part]
  }
  return comparePre(left.pre, right.pre)
}

/** A version without a pre-release part is later than one with it. */
function comparePre(left, right) {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    if (left[i] === undefined) return -1
    if (right[i] === undefined) return 1
    if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1
  }
  return 0
}

export function raise(text, part) {
  const version = parse(text)
  version[part] += 1
  return `${version.major}.${version.minor}.${version.patch}`
}

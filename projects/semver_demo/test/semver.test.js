import assert from 'node:assert/strict'
import { test } from 'node:test'

import { compare, parse, raise } from '../src/semver.js'

const sorted = (...versions) => [...versions].sort(compare)

test('parse', () => {
  assert.deepEqual(parse('v1.2.3-beta.1'), { major: 1, minor: 2, patch: 3, pre: ['beta', '1'] })
  assert.throws(() => parse('1.2'), TypeError)
})

test('compare by numbers', () => {
  assert.deepEqual(sorted('1.10.0', '1.9.0', '1.2.3'), ['1.2.3', '1.9.0', '1.10.0'])
})

test('a release is later than its pre-releases', () => {
  assert.deepEqual(sorted('1.0.0', '1.0.0-beta', '1.0.0-alpha'), ['1.0.0-alpha', '1.0.0-beta', '1.0.0'])
})

test('numbers in a pre-release are compared as numbers and come before words', () => {
  assert.deepEqual(sorted('1.0.0-rc.10', '1.0.0-rc.9', '1.0.0-rc.x'), ['1.0.0-rc.9', '1.0.0-rc.10', '1.0.0-rc.x'])
})

test('raise', () => {
  assert.equal(raise('1.2.3', 'patch'), '1.2.4')
})

test('raise sets what comes after to zero', () => {
  assert.equal(raise('1.2.3', 'minor'), '1.3.0')
  assert.equal(raise('1.2.3', 'major'), '2.0.0')
})

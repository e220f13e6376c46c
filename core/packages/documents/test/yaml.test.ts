import t from 'tap'
import { growthOf, maxGrowth } from '../../../../test/support/growth.ts'
import { has } from '../../../../test/support/matching.ts'
import { readYaml } from '../source/yaml.ts'

function read (text: string): unknown {
  try {
    return readYaml(text, '').value
  } catch (error) {
    return error
  }
}

const lines = (size: number, line: (index: number) => string): string => Array.from({ length: size }, (_, index) => line(index)).join('\n')

const shapes: Readonly<Record<string, (size: number) => string>> = {
  keys: (size) => lines(size, (index) => `k${index}: 1`),
  'keys of a map in braces': (size) => `x: {${lines(size, (index) => `k${index}: 1,`)}}`,
  'equal keys': (size) => lines(size, () => 'k: 1'),
  anchors: (size) => lines(size, (index) => `- &a${index} 1`),
  aliases: (size) => lines(size, (index) => `- &a${index} 1\n- *a${index}`),
  errors: (size) => lines(size, () => '}'),
  tags: (size) => lines(size, () => '- !x 1'),
  'keys that are lists': (size) => lines(size, () => '? [a]\n: b')
}

for (const [shape, make] of Object.entries(shapes)) {
  await t.test(`eight times as many ${shape} take eight times as long`, async (t) => {
    t.ok(await growthOf(1000, (size) => read(make(size))) < maxGrowth)
  })
}

await t.test('a key that is there twice is refused where it is, at any depth, and once in each of two maps is not', (t) => {
  has(t, read('a:\n  - { b: 1, b: 2 }'), { faults: [{ line: 2, column: 13, message: 'The key "b" is there twice.' }] })
  has(t, read('1: x\n1: y'), { faults: [{ line: 2, column: 1 }] })
  t.same(read('a: { b: 1 }\nc: { b: 2 }'), { a: { b: 1 }, c: { b: 2 } })
  t.end()
})

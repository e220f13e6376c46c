import fc from 'fast-check'
import { inspect } from 'node:util'
import t, { Test, type TestOpts } from 'tap'
import { pointer } from '../../core/packages/common/json.ts'
import { contains, has, lacks, matches, type Pattern } from './matching.ts'

/** What a test that makes one comparison prints: null where it passes, else the sentence of its failure. */
async function failure (compare: (t: Test) => boolean): Promise<string | null> {
  const options: TestOpts = { name: 'inner' }
  const inner = new Test(options)
  const passed = compare(inner)
  inner.end()
  const printed = await inner.concat()
  t.equal(inner.passing(), passed)
  return passed ? null : /^not ok 1 - (.*)$/m.exec(printed)?.[1]?.replaceAll(/\\([\\#])/g, '$1') ?? ''
}

type Json = string | number | boolean | null | Json[] | { [field: string]: Json }
const name = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', '~', '/', '#', '\\', ':'), maxLength: 4 }),
  fc.constantFrom('toString', '__proto__'))
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof({ maxDepth: 4, withCrossShrink: true }, fc.string(), fc.integer(), fc.boolean(), fc.constant(null),
    fc.array(tie('json'), { maxLength: 4 }), fc.dictionary(name, tie('json'), { maxKeys: 4, noNullPrototype: true }))
}))

/** A change of one place in a value, where it is, and what it does. */
type Change = { value: Json, at: string, kind: 'changed' | 'removed' | 'added field' | 'added element' | 'first field' }
function changesOf (value: Json, at = ''): Change[] {
  const changed: Change = { value: value === 'other' ? 'another' : 'other', at, kind: 'changed' }
  if (Array.isArray(value)) return [changed, ...ofList(value, at)]
  return typeof value === 'object' && value !== null ? [changed, ...ofFields(value, at)] : [changed]
}

function ofList (list: Json[], at: string): Change[] {
  const within = list.flatMap((element, index) =>
    changesOf(element, pointer(at, index)).map((change) => ({ ...change, value: list.with(index, change.value) }))
  )
  const shorter: Change[] = list.length === 0 ? [] : [{ value: list.slice(0, -1), at: pointer(at, list.length - 1), kind: 'removed' }]
  return [...within, ...shorter, { value: [...list, null], at: pointer(at, list.length), kind: 'added element' }]
}

function ofFields (fields: Record<string, Json>, at: string): Change[] {
  const entries = Object.entries(fields)
  const made = (changed: [string, Json][]) => Object.fromEntries(changed)
  const within = entries.flatMap(([name, value], index) =>
    changesOf(value, pointer(at, name))
      .map((change) => ({ ...change, value: made(entries.with(index, [name, change.value])) }))
  )
  const fewer = entries.map(([name]): Change => ({
    value: made(entries.filter(([other]) => other !== name)),
    at: pointer(at, name),
    kind: 'removed'
  }))
  const more: Change = {
    value: made([...entries, ['a new field', null]]),
    at: pointer(at, 'a new field'),
    kind: entries.length > 0 ? 'added field' : 'first field'
  }
  return [...within, ...fewer, more]
}

const changed = json.chain((value) => fc.record({ value: fc.constant(value), change: fc.constantFrom(...changesOf(value)) }))

await t.test('a value is as it is written', async () => {
  await fc.assert(fc.asyncProperty(json, async (value) => {
    const failures = await Promise.all([matches, has].map((compare) => failure((inner) => compare(inner, value, structuredClone(value)))))
    return failures.every((sentence) => sentence === null)
  }), { numRuns: 100 })
})

await t.test('of one change, a failure names the place', async () => {
  await fc.assert(fc.asyncProperty(changed, async ({ value, change }) => {
    return (await failure((inner) => matches(inner, change.value, value)))?.includes(
      `: ${change.at === '' ? '' : `${change.at}: `}found `
    ) ?? false
  }), { numRuns: 200 })
})

await t.test('`has` passes over a field that an object has beside others that are named, and over nothing else', async () => {
  await fc.assert(fc.asyncProperty(changed, async ({ value, change }) => {
    return (await failure((inner) => has(inner, change.value, value)) === null) === (change.kind === 'added field')
  }), { numRuns: 200 })
})

class Told extends Error {
  word = 'conflict'
}
const empty: [found: unknown, wanted: Pattern][] = [
  [[1], []],
  [{ problems: [1, 2] }, { problems: [] }],
  [['one', 'two'], ['one']],
  [{ a: 1 }, {}],
  [[{ a: 1 }], [{}]],
  [new Map([[1, 2]]), {}],
  [new Date(), {}],
  [[], {}],
  [{}, []],
  [null, {}],
  ['', {}],
  [new Told('x'), {}]
]
const wrong: [found: unknown, wanted: Pattern][] = [
  ...empty,
  [null, undefined],
  ['1', 1],
  [1, true],
  ['ab', 'a'],
  ['a', ''],
  [-0, 0],
  [Number.NaN, 0],
  [{ a: 1 }, { a: undefined }],
  [{}, { a: null }],
  [undefined, /undefined/],
  [1, /1/],
  [['a'], /a/],
  [{ toString: () => 'a' }, /a/],
  ['1', Number],
  [Number.NaN, Number],
  [1, String],
  [null, Object],
  [[], Object],
  [{}, Array],
  [new Date(0), RegExp],
  ['x', Boolean],
  [new Date(0), new Date(1)],
  [0, new Date(0)],
  [Buffer.from('a'), Buffer.from('b')],
  ['a', Buffer.from('a')],
  [{}, { toString: Function }],
  [7, (value: number) => value > 7],
  [7, ((value: number) => value) as unknown as () => boolean],
  [new Told('x'), { word: 'gone' }],
  [undefined, { word: 'x' }]
]
const right: [found: unknown, wanted: Pattern][] = [
  [undefined, undefined],
  [Number.NaN, Number.NaN],
  [{ a: undefined }, {}],
  [{}, { a: undefined }],
  [[], []],
  [{}, {}],
  [Object.create(null), {}],
  ['ab', /b$/],
  ['ab', /b/g],
  [7, Number],
  ['', String],
  [false, Boolean],
  [1n, BigInt],
  [{}, Object],
  [new Date(0), Object],
  [[], Array],
  [() => 1, Function],
  [new Date(0), new Date(0)],
  [new Date(0), Date],
  [Buffer.from('a'), new Uint8Array([97])],
  [8, (value: number) => value > 7],
  [new Told('x'), Told]
]

await t.test('what must not pass', async () => {
  for (const [found, wanted] of wrong) {
    for (const compare of [matches, has]) {
      t.not(await failure((inner) => compare(inner, found, wanted)), null, `${compare.name} ${inspect(wanted)}`)
    }
  }
})

await t.test('what must pass', async () => {
  for (const [found, wanted] of right) {
    for (const compare of [matches, has]) {
      t.equal(await failure((inner) => compare(inner, found, wanted)), null, `${compare.name} ${inspect(wanted)}`)
    }
  }
})

await t.test('a regular expression that remembers where it was finds the same each time', async () => {
  const [once, again] = await Promise.all([1, 2].map(() => failure((inner) => matches(inner, ['aa', 'aa'], [/a/g, /a/g]))))
  t.same([once, again], [null, null])
})

await t.test('of an error, `has` compares the fields that are named; `matches` compares plain data alone', async () => {
  const error = new Told('It is gone.')
  t.equal(await failure((inner) => has(inner, error, { word: 'conflict', message: /gone/, name: 'Error' })), null)
  t.not(await failure((inner) => matches(inner, error, { word: 'conflict' })), null)
})

await t.test('a failure says where, what was found and what was wanted', async () => {
  const found = { status: 422, body: { steps: [{ state: 'sent' }, { state: 'left' }, { state: 'left' }], 'a/b': 'x', more: 1 } }
  const wanted = { status: 400, body: { steps: [{ state: 'sent' }, { state: /^ri/ }], 'a/b': Number, gone: true } }
  t.equal(await failure((inner) => matches(inner, found, wanted, 'the answer')), 'the answer: /status: found 422, wanted 400; ' +
    '/body/steps/1/state: found \'left\', wanted /^ri/; /body/steps/2: found { state: \'left\' }, wanted no element; ' +
    '/body/a~1b: found \'x\', wanted [Function: Number]; /body/gone: found no field, wanted true; /body/more: found 1, wanted no field')
  t.equal(await failure((inner) => has(inner, [], [{ a: 1 }])), 'has what is written: /0: found no element, wanted { a: 1 }')
})

await t.test('`contains` and `lacks` tell texts apart; what is no text passes neither', async () => {
  for (const part of ['bc', /b./]) {
    t.equal(await failure((inner) => contains(inner, 'abcd', part)), null)
    t.equal(await failure((inner) => lacks(inner, 'acbd'.replace('b', ''), part)), null)
    t.not(await failure((inner) => lacks(inner, 'abcd', part)), null)
    for (const none of ['acd', undefined, null, ['abcd'], { text: 'abcd' }]) {
      t.not(await failure((inner) => contains(inner, none, part)), null)
    }
    for (const none of [undefined, null, ['x'], 7]) t.not(await failure((inner) => lacks(inner, none, part)), null)
  }
  for (const compare of [contains, lacks]) t.not(await failure((inner) => compare(inner, 'abcd', '')), null, 'an empty part is in each')
  t.equal(await failure((inner) => lacks(inner, 'abc', 'b')), 'lacks what is written: found \'abc\', wanted a text without \'b\'')
})

await t.test('what has no comparison is refused as a pattern', (t) => {
  for (const pattern of [new Map(), new Set(), new Told('x')]) {
    t.throws(() => matches(t, pattern, pattern as unknown as Pattern), /no pattern/)
  }
  t.end()
})

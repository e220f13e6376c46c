import fc from 'fast-check'

/** Texts that have broken something somewhere. */
const texts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfffa',
  '\uFEFF',
  '\u202Eabc',
  '\u2028',
  '\r\nX-Injected: 1',
  '😀'.repeat(300),
  'e\u0301'.repeat(200),
  'x'.repeat(501),
  'x'.repeat(100_000),
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '1e999',
  '-0',
  '0x10',
  '٣',
  '1,5',
  '12.50',
  '-99999999999999999999.9999999999',
  '../../etc/passwd',
  'C:\\con',
  '%00',
  '%2e%2e',
  '{{ number }}',
  '{% raw %}',
  '${7*7}',
  '#{7*7}',
  '<script>alert(1)</script>',
  '"><img src=x>',
  '\'; drop table users; --',
  '"}',
  '\\',
  '`',
  '*bold* [a](javascript:x)',
  '2026-02-30',
  '2016-12-31T23:59:60Z',
  '+275760-09-13',
  '0000-00-00',
  '9999-12-31',
  'EUR',
  'XXX',
  'eur',
  'FR',
  'simulator',
  'INVOICE',
  'E_INVOICE',
  'reject',
  'uncertain',
  'ada@example.com',
  '@',
  'https://[::1]/',
  'javascript:1'
]

/** Stands for a number that JSON text can say and a double cannot hold. */
const tooLarge = '@too-large'

const numbers = [0, -0, -1, 0.1, 1e-7, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e15, 1e21, Number.MAX_VALUE, Number.MIN_VALUE, 20]

const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => wrap(inner), 1)

export const hostileText: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...texts), fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string())

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(...numbers, tooLarge, null, true, false, [], {}),
  fc.jsonValue({ maxDepth: 2 }),
  fc.integer({ min: 1, max: 200 }).map((depth) => nested(depth, (inner) => [inner])),
  fc.integer({ min: 1, max: 200 }).map((depth) => nested(depth, (inner) => ({ a: inner }))),
  fc.integer({ min: 900, max: 11_000 }).map((length) => Array.from({ length }, () => ({})))
)

const hostileName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', '', '\0', '~1', 'a/b', 'documentType', 'metadata', 'total', 'settings',
    'x'.repeat(5000)),
  fc.string({ unit: 'binary', maxLength: 10 })
)

type Fields = Record<string, unknown>

/** What can go wrong at a place of a body. */
const changes: Record<string, (parent: Fields, key: string, given: { value: unknown, name: string }) => void> = {
  replace (parent, key, { value }) {
    put(parent, key, value)
  },
  remove (parent, key) {
    Reflect.deleteProperty(parent, key)
  },
  rename (parent, key, { name }) {
    const present = parent[key]
    Reflect.deleteProperty(parent, key)
    put(parent, name, present)
  },
  wrap (parent, key) {
    put(parent, key, [parent[key]])
  },
  repeat (parent, key) {
    put(parent, key, [parent[key], parent[key]].flat())
  },
  add (parent, key, { value, name }) {
    if (isFields(parent[key])) put(parent[key], name, value)
  }
}

const mutation = fc.record({ change: fc.constantFrom(...Object.values(changes)), at: fc.nat(), value: hostileValue, name: hostileName })

/** A JSON text that was a valid body, before up to `max` things went wrong with it. */
export function mutated (valid: fc.Arbitrary<unknown>, max = 3): fc.Arbitrary<string> {
  return fc.tuple(valid, fc.array(mutation, { maxLength: max })).map(([value, mutations]) => {
    const root: Fields = { body: structuredClone(value) }
    for (const { change, at, ...given } of mutations) {
      const places = placesIn(root)
      const { parent, key } = places[at % places.length] ?? { parent: root, key: 'body' }
      // Values may be constants, and a change may reach into what an earlier one has put there.
      change(parent, key, structuredClone(given))
    }
    return JSON.stringify(root).slice('{"body":'.length, -1).replaceAll(`"${tooLarge}"`, '1e999')
  })
}

type Place = { parent: Fields, key: string }

/** Every place of a value, below its root. */
function placesIn (parent: Fields): Place[] {
  return Object.entries(parent).flatMap(([key, value]) => [{ parent, key }, ...(isFields(value) ? placesIn(value).slice(0, 500) : [])])
}

/** Objects and arrays alike. */
function isFields (value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** An own field, whatever its name; the length of a list is none that JSON could have. */
function put (object: Fields, key: string, value: unknown): void {
  if (Array.isArray(object) && key === 'length') return
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
}

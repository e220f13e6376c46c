import t from 'tap'
import { Type } from 'typebox'
import { has } from '../../../../test/support/matching.ts'
import { didYouMean } from '../problems.ts'
import { compile, compileJsonSchema } from '../schema.ts'

const problems = (schema: object, value: unknown): unknown => {
  const fit = compileJsonSchema(schema)(value, '/base')
  return fit.ok ? [] : fit.problems
}

await t.test('each thing that can be wrong has its code, its place and a sentence that helps', (t) => {
  const named = { properties: { name: {} }, additionalProperties: false }
  const cases: [object, unknown, string, string, string | RegExp][] = [
    [{ required: ['name'] }, {}, '/base/name', 'required', 'The field "name" is required.'],
    [
      { dependentRequired: { user: ['password'], key: ['password'] } },
      { user: 'a', key: 'b' },
      '/base/password',
      'required',
      'The field "password" is required where "user" is given.'
    ],
    [
      { description: 'the way', anyOf: [{ const: 'air', title: 'By air' }, { const: 'sea' }] },
      'aire',
      '/base',
      'enum',
      'Expected one of "air", "sea" (did you mean "air"?).'
    ],
    [named, { nmae: 1 }, '/base/nmae', 'unknown_field', 'Unknown field "nmae" (did you mean "name"?).'],
    [
      { ...named, additionalProperties: undefined, unevaluatedProperties: false },
      { x: 1 },
      '/base/x',
      'unknown_field',
      'Unknown field "x".'
    ],
    [named, { 'a/b~c': 1 }, '/base/a~1b~0c', 'unknown_field', /a\/b~c/],
    [{ type: 'string' }, 7, '/base', 'type', 'Expected string, got number.'],
    [{ type: 'integer' }, 1.5, '/base', 'type', 'Expected integer, got a number with a fraction.'],
    [{ type: ['string', 'number'] }, null, '/base', 'type', 'Expected string or number, got null.'],
    [{ type: 'object' }, [], '/base', 'type', 'Expected object, got array.'],
    [{ enum: ['INVOICE', 'QUOTE'] }, 'INVOCE', '/base', 'enum', 'Expected one of "INVOICE", "QUOTE" (did you mean "INVOICE"?).'],
    [{ const: 1 }, 2, '/base', 'const', 'Expected 1.'],
    [{ format: 'date' }, 'x', '/base', 'format', 'Not a valid date (YYYY-MM-DD).'],
    [{ pattern: '^a$' }, 'b', '/base', 'pattern', 'Does not match the pattern ^a$.'],
    [{ pattern: '^a$', description: 'the letter a' }, 'b', '/base', 'pattern', 'Expected: the letter a.'],
    [{ pattern: '^a$', description: 'The letter a.' }, 'b', '/base', 'pattern', 'Expected: The letter a.'],
    [
      { title: 'PhoneNumber', description: 'a number', pattern: '^\\+\\d+$' },
      '00 33 (0)6 12-34.56/78',
      '/base',
      'pattern',
      'Expected: a number. Did you mean +33612345678?'
    ],
    [{ title: 'PhoneNumber', description: 'a number', pattern: '^\\+\\d+$' }, '06 12 34 56 78', '/base', 'pattern', 'Expected: a number.'],
    [{ format: 'https-url' }, 'http://example.com', '/base', 'format', 'Not a valid https:// URL (one without user name and password).'],
    [{ minLength: 1 }, '', '/base', 'too_short', 'Must not be empty.'],
    [{ minLength: 2 }, 'a', '/base', 'too_short', 'Needs at least 2 characters.'],
    [{ maxLength: 1 }, 'ab', '/base', 'too_long', 'May have at most 1 characters.'],
    [{ minItems: 1 }, [], '/base', 'too_few', 'Must not be empty.'],
    [{ maxItems: 1 }, [1, 2], '/base', 'too_many', 'May have at most 1 items.'],
    [{ minProperties: 1 }, {}, '/base', 'too_few', 'Needs at least 1 fields.'],
    [{ maxProperties: 0 }, { a: 1 }, '/base', 'too_many', 'May have at most 0 fields.'],
    [{ minimum: 1 }, 0, '/base', 'too_small', 'Must be at least 1.'],
    [{ maximum: 1 }, 2, '/base', 'too_large', 'Must be at most 1.'],
    [{ exclusiveMinimum: 1 }, 1, '/base', 'too_small', 'Must be more than 1.'],
    [{ exclusiveMaximum: 1 }, 1, '/base', 'too_large', 'Must be less than 1.'],
    [{ uniqueItems: true }, [1, 1], '/base', 'duplicate', 'Two items are the same.'],
    [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, '/base/abc', 'key_too_long', 'The key "abc": May have at most 2 characters.'],
    [{ multipleOf: 2 }, 3, '/base', 'multipleOf', /^Is not valid: /],
    [{ items: { type: 'string' } }, ['a', 1], '/base/1', 'type', 'Expected string, got number.']
  ]
  for (const [schema, value, path, code, message] of cases) {
    const found = problems(schema, value) as unknown[]
    t.equal(found.length, 1, JSON.stringify(schema))
    has(t, found, [{ path, code, message }], JSON.stringify(schema))
  }
  t.end()
})

await t.test('all problems are told at once', (t) => {
  t.strictSame(
    (problems({ required: ['a', 'b'], properties: { c: { type: 'string' } } }, { c: 1 }) as { path: string }[]).map(({ path }) => path)
      .sort(),
    ['/base/a', '/base/b', '/base/c']
  )
  t.end()
})

await t.test('a hundred thousand faults take no longer than their number says', (t) => {
  const schema = {
    items: {
      anyOf: [{ type: 'string' }, { type: 'number' }],
      description: 'a text or a number',
      dependentRequired: { user: ['password'], key: ['password'] }
    }
  }
  const check = compileJsonSchema(schema)
  const begun = performance.now()
  const fit = check(Array(20_000).fill({ user: 'a', key: 'b' }))
  // Milliseconds; each compared with all others takes a minute.
  t.ok(performance.now() - begun < 20_000, `${Math.round(performance.now() - begun)} ms`)
  const reported = fit.ok ? [] : fit.problems
  t.equal(reported.length, 101)
  t.same(reported.slice(0, 3).map(({ path, message }) => [path, message]), [
    ['/0', 'Expected: a text or a number.'],
    ['/0/password', 'The field "password" is required where "user" is given.'],
    ['/1', 'Expected: a text or a number.']
  ])
  t.end()
})

await t.test('of a value that may have several forms, what is wrong with the one that is meant is told', (t) => {
  const form = (name: string): object => ({
    type: 'object',
    required: [name],
    properties: { [name]: { type: 'string', format: 'uuid' }, title: { type: 'string', minLength: 1 } },
    additionalProperties: false
  })
  const check = compileJsonSchema({ items: { anyOf: [form('fileId'), form('documentId'), { type: 'string' }] } })
  const reported = (value: unknown): unknown => {
    const fit = check([value])
    return fit.ok ? [] : fit.problems.map(({ path, code }) => `${path} ${code}`)
  }
  t.same(reported({ fileId: 'x' }), ['/0/fileId format'])
  t.same(reported({ documentId: 'x', title: '' }), ['/0/documentId format', '/0/title too_short'])
  t.same(reported({ fileId: '01a22487-966f-772e-8127-fbc91b65aa65', titel: 'x' }), ['/0/titel unknown_field'])
  t.same(reported({}), ['/0/fileId required', '/0/documentId required', '/0 type'], 'none of them is meant')
  t.end()
})

await t.test('what is wrong with a value that may be null is what its form says', (t) => {
  const schema = { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], description: 'How many there are; null: all' }
  const reported = (value: unknown): unknown => {
    const fit = compileJsonSchema(schema)(value)
    return fit.ok ? [] : fit.problems.map(({ message }) => message)
  }
  t.same(reported(0), ['Must be at least 1.'])
  t.same(reported('two'), ['Expected integer, got string.'])
  t.same(reported(null), [])
  t.end()
})

await t.test('a value that fits keeps its type', (t) => {
  const fit = compile(Type.Object({ a: Type.Integer() }))({ a: 1 })
  t.equal(fit.ok && fit.value.a, 1)
  t.end()
})

await t.test('a day and a time are told from what only looks like one', (t) => {
  const isTime = compileJsonSchema({ format: 'iso-8601' })
  for (const text of ['2026-03-14', '2028-02-29', '2026-03-14T09:30:00Z', '2026-03-14T09:30:00.123+02:00']) t.ok(isTime(text).ok, text)
  for (const text of ['', '2026', '2026-3-14', '2026-02-29', '2026-13-01', '14.03.2026', '2026-03-14T25:00:00Z', '2026-03-14T09:30',
    'now'])
  {
    t.notOk(isTime(text).ok, text)
  }
  t.end()
})

await t.test('the nearest word is offered only when it is near', (t) => {
  const known = ['providerName', 'template', 'metadata', 'id', 'sendByEmail', 'name']
  const offered: [string, string | undefined][] = [
    ['providername', 'providerName'],
    ['provider', undefined],
    ['providerNam', 'providerName'],
    ['sendOn', undefined],
    ['sendAt', undefined],
    ['sendByMail', 'sendByEmail'],
    ['nmae', 'name'],
    ['anme', 'name'],
    ['date', undefined],
    ['nam', 'name'],
    ['tempalte', 'template'],
    ['METADATA', 'metadata'],
    ['ib', 'id'],
    ['zzzzzzzz', undefined],
    ['x'.repeat(51), undefined]
  ]
  for (const [word, nearest] of offered) {
    t.equal(didYouMean(word, known), nearest === undefined ? '' : ` (did you mean "${nearest}"?)`, word)
  }
  t.equal(didYouMean('a', []), '')
  t.equal(didYouMean('x', ['id', 'ab']), '')
  t.end()
})

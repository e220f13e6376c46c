import t from 'tap'
import { has, matches } from '../../../../test/support/matching.ts'
import { compileTemplate } from '../compile/compile.ts'
import { readDataSchema } from '../model/data-schema.ts'
import { unknownPathFaults } from '../source/schema-paths.ts'
import { unusedFields } from '../source/unused-fields.ts'
import { compiled, templateOf } from './support.ts'

const fits = (schema: object, value: unknown): unknown => {
  const read = readDataSchema({ ...schema }, '/schema')
  return read.ok ? read.fit(value) : read.problems
}

void t.test('data are checked, and problems stand where they are', (t) => {
  const schema = {
    type: 'object',
    properties: { lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
    $defs: { line: { type: 'object', required: ['total'] } }
  }
  has(t, fits(schema, { lines: [{ total: 1 }] }), { ok: true })
  has(t, fits(schema, { lines: [{ total: 1 }, {}] }), { ok: false, problems: [{ path: '/lines/1/total', code: 'required' }] })
  t.end()
})

void t.test('a schema may refer to itself', (t) => {
  const tree = { type: 'object', properties: { branches: { type: 'array', items: { $ref: '#' } } } }
  has(t, fits(tree, { branches: [{ branches: [] }] }), { ok: true })
  has(t, fits(tree, { branches: [{ branches: [5] }] }), { ok: false, problems: [{ path: '/branches/0/branches/0', code: 'type' }] })
  t.end()
})

void t.test('a schema may refer to the vocabulary of invoices, and to its parts', (t) => {
  has(t, fits({ $ref: 'dispatch:invoice' }, { number: 5 }), { ok: false })
  has(t, fits({ type: 'object', properties: { line: { $ref: 'dispatch:invoice#/$defs/line' } } }, { line: 5 }), {
    ok: false,
    problems: [{ path: '/line' }]
  })
  has(t, fits({ $ref: 'dispatch:invoce' }, {}), [{ path: '/schema/$ref', message: /did you mean "dispatch:invoice"/ }])
  t.end()
})

const refused: [rule: string, schema: object, path: string, message: RegExp][] = [
  ['an unknown keyword', { requird: [] }, '/schema/requird', /did you mean "required"/],
  ['an unknown keyword below others', { anyOf: [{ items: { titel: 'x' } }] }, '/schema/anyOf/0/items/titel', /did you mean "title"/],
  ['an unknown type', { properties: { a: { type: 'text' } } }, '/schema/properties/a/type', /Expected one of "array"/],
  ['an unknown format', { properties: { a: { type: 'string', format: 'datum' } } }, '/schema/properties/a/format', /did you mean "date"/],
  ['a pattern that is none', { patternProperties: { '(': {} } }, '/schema/patternProperties/(', /Unterminated group/],
  [
    'a definition that is not there',
    { properties: { a: { $ref: '#/$defs/lime' } }, $defs: { line: {} } },
    '/schema/properties/a/$ref',
    /did you mean "#\/\$defs\/line"/
  ],
  ['fields that are no schemas', { properties: { a: 5 } }, '/schema/properties/a', /Expected object or true or false/]
]

for (const [rule, schema, path, message] of refused) {
  void t.test(`${rule} is told with its place, once`, (t) => {
    const problems = fits(schema, {})
    has(t, problems, [{ path, message }])
    t.equal((problems as unknown[]).length, 1)
    t.end()
  })
}

void t.test('what looks like a keyword among names and values is none', (t) => {
  has(t, fits({ type: 'object', properties: { $ref: { type: 'string' }, titel: { enum: [{ titel: 1 }] } }, default: { $async: true } }, {
    $ref: 'https://example.com'
  }), { ok: true })
  t.end()
})

const circle = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, nick: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } }
    }
  }
}

void t.test('paths are followed through schemas that lead in circles', (t) => {
  const { reads } = compiled([{
    each: 'children',
    as: 'child',
    do: [{ each: 'child.children', as: 'grandchild', do: [{ paragraph: '{{ grandchild.nmae }}' }] }]
  }])
  has(t, unknownPathFaults(circle, reads), [{ code: 'unknown_path', message: /"children.children.nmae" \(did you mean "name"\?\)/ }])
  matches(t, unknownPathFaults({ $ref: '#' }, reads), [], 'a circle without fields leaves everything open')
  matches(t, unknownPathFaults({ properties: { children: true } }, reads), [], 'a field that may be anything leaves open what is inside')
  t.end()
})

void t.test('fields that no block shows are found once, the outermost of each', (t) => {
  const shown = (schema: object, ...paths: string[]): string[] =>
    unusedFields({ ...schema }, compileTemplate(templateOf(paths.map((path) => ({ paragraph: `{{ ${path} }}` })))).uses)
  t.strictSame(shown(circle, 'name'), ['/$defs/node/properties/nick', '/$defs/node/properties/children'])
  const both = { anyOf: [{ properties: { a: { properties: { b: {}, c: {} } } } }, { properties: { d: {} } }] }
  t.strictSame(shown(both, 'a.b'), ['/anyOf/1/properties/d', '/anyOf/0/properties/a/properties/c'].sort())
  t.strictSame(shown(both, 'a', 'd'), [])
  t.strictSame(shown({ $ref: 'dispatch:invoice' }, 'number'), [], 'nobody needs all of a vocabulary')
  t.end()
})

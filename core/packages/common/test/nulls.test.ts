import t from 'tap'
import { Type } from 'typebox'
import { nullIsAbsence, withoutMembers } from '../nulls.ts'
import { compile } from '../schema.ts'

const Inner = Type.Object({ text: Type.Optional(Type.String()), either: Type.Optional(Type.Union([Type.String(), Type.Number()])) }, {
  additionalProperties: false
})
const check = nullIsAbsence(compile(Type.Object({
  name: Type.String(),
  note: Type.Optional(Type.String({ maxLength: 5 })),
  removed: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  inner: Type.Optional(Inner),
  list: Type.Optional(Type.Array(Inner)),
  'a/b~c': Type.Optional(Type.String())
}, { additionalProperties: false })))

await t.test('null is absence where a field may be left out, at any depth; the value comes back without it', (t) => {
  t.same(check({ name: 'Ada', note: null }), { ok: true, value: { name: 'Ada' } })
  t.same(check({ name: 'Ada', 'a/b~c': null }), { ok: true, value: { name: 'Ada' } })
  t.same(check({ name: 'Ada', inner: null, list: [{ text: null, either: 1 }, { either: null }] }), {
    ok: true,
    value: { name: 'Ada', list: [{ either: 1 }, {}] }
  })
  t.end()
})

await t.test('null stays where the schema permits it', (t) => {
  t.same(check({ name: 'Ada', removed: null }), { ok: true, value: { name: 'Ada', removed: null } })
  t.same(check({ name: 'Ada', removed: null, note: null }), { ok: true, value: { name: 'Ada', removed: null } })
  t.end()
})

await t.test('a required field that is null is missing; an item of a list that is null, and the whole value, are wrong', (t) => {
  const problems = (value: unknown): unknown => {
    const fit = check(value, '/body')
    return fit.ok ? [] : fit.problems.map(({ path, code }) => `${path} ${code}`)
  }
  t.same(problems({ name: null }), ['/body/name required'])
  t.same(problems({ name: 'Ada', list: [null] }), ['/body/list/0 type'])
  t.same(problems(null), ['/body type'])
  t.same(problems({ name: 'Ada', note: null, inner: { text: 1 } }), ['/body/inner/text type'])
  t.same(problems({ name: 'Ada', unknown: null }), ['/body/unknown unknown_field'], 'a name that does not exist stays a mistake')
  t.end()
})

await t.test('what is given is not changed, and what needs no change is not copied', (t) => {
  const given = { name: 'Ada', note: null, inner: { text: 'x' } }
  const fit = check(given)
  t.same(given, { name: 'Ada', note: null, inner: { text: 'x' } })
  t.equal(fit.ok && fit.value.inner, given.inner)
  t.equal(withoutMembers(given, []), given)
  t.end()
})

await t.test('there may be any number of them', (t) => {
  const list = Array.from({ length: 5_000 }, () => ({ text: null, either: null }))
  t.same(check({ name: 'Ada', list }), { ok: true, value: { name: 'Ada', list: list.map(() => ({})) } })
  t.end()
})

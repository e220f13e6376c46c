import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { compileOutsideSchema } from '../schema.ts'

const worst = `${'a'.repeat(60)}!`

await t.test('a pattern that would be tried for hours fits nothing it has not decided soon, and holds nobody for longer than that', (t) => {
  for (const [pattern, text] of [['^(a+)+$', worst], ['^(a|a)*$', worst], ['^a*a*a*$', `${'a'.repeat(50_000)}!`]] as const) {
    const check = compileOutsideSchema({ type: 'array', items: { type: 'string', pattern } })
    // Without an end each of them would take for ever.
    has(t, check(Array.from({ length: 5_000 }, () => text)), { ok: false })
  }
  t.end()
})

await t.test('what one schema has used up is nothing to another one, and short texts of plain patterns are always tried', (t) => {
  const schema = (): object => ({ properties: { words: { pattern: '^(a+)+$' }, plain: { pattern: '^a+$' } } })
  const [one, other] = [compileOutsideSchema(schema()), compileOutsideSchema(schema())]
  for (let nth = 0; nth < 4; nth++) t.notOk(one({ words: worst }).ok)
  t.notOk(one({ words: 'aaa' }).ok, 'its budget is spent')
  t.ok(one({ plain: 'aaa' }).ok)
  t.ok(other({ words: 'aaa', plain: 'aaa' }).ok)
  t.notOk(other({ words: 'aab' }).ok)
  t.end()
})

await t.test('patterns mean what they mean elsewhere', (t) => {
  const check = compileOutsideSchema({
    patternProperties: { '^(x-)+$': { type: 'string', pattern: '^(?!test)(\\p{L}+ ?)+$' } },
    additionalProperties: false
  })
  t.ok(check({ 'x-x-': 'Zoë Ñandú' }).ok)
  t.notOk(check({ 'x-': 'test one' }).ok)
  t.notOk(check({ y: 'one' }).ok)
  t.end()
})

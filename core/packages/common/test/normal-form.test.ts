import fc from 'fast-check'
import t from 'tap'
import { growthOf, maxGrowth } from '../../../../test/support/growth.ts'
import { normalForm } from '../normal-form.ts'

const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const
const marks = ['\u0301', '\u0323', '\u05b0', '\uff9e', '\u0344']
const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...marks, 'e', '\uac00', '\u1100', '\ufb1d')), {
  maxLength: 40
})
  .map((parts) => parts.join(''))

await t.test('what people write has the normal form of Unicode', (t) => {
  fc.assert(
    fc.property(text.filter((text) => !/[\p{M}\uff9e]{30}/u.test(text)),
      (text) => forms.every((form) => normalForm(text, form) === text.normalize(form)))
  )
  t.end()
})

await t.test('no character is lost in a row of marks without end', (t) => {
  const sorted = (text: string): string => Array.from(text.normalize('NFD')).sort().join('')
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...marks, 'e'), { minLength: 31, maxLength: 200 }).map((parts) => parts.join('')),
      (text) => sorted(normalForm(text)) === sorted(text))
  )
  t.end()
})

for (const form of forms) {
  await t.test(`${form}: twice as many marks take twice as long`, async (t) => {
    t.ok(await growthOf(5000, (size) => normalForm(`a${'\u0301\u0323'.repeat(size)}`, form)) < maxGrowth)
    t.ok(await growthOf(5000, (size) => normalForm(`a${'\uff9e\u0323'.repeat(size)}`, form)) < maxGrowth)
  })
}

import t from 'tap'
import { growthOf, maxGrowth } from '../../../../test/support/growth.ts'
import { pdfOf, wordsOf } from './support.ts'

const rows: Readonly<Record<string, string>> = {
  'the same mark': '\u0301',
  'marks above and below in turns': '\u0301\u0323',
  'marks of Hebrew': '\u05b0\u05bc',
  'marks of Arabic': '\u064b\u0651'
}

for (const [rule, row] of Object.entries(rows)) {
  await t.test(`a letter under many marks is a document in proportion to them: ${rule}`, async (t) => {
    let letter = 'a'.codePointAt(0) ?? 0
    t.ok(await growthOf(4000, async (size) => {
      // No memory of a word helps: each has a letter of its own.
      await pdfOf([{ paragraph: '{{ text }}' }], { text: String.fromCodePoint(letter++) + row.repeat(size / row.length) })
    }) < maxGrowth)
  })
}

await t.test('the marks of a language stay with their letter', async (t) => {
  const text = 'Việt Nam שָׁלוֹם é'
  t.equal((await wordsOf(await pdfOf([{ paragraph: '{{ text }}' }], { text: 'Việt Nam é' }))).normalize('NFC'),
    'Việt Nam é'.normalize('NFC'))
  t.ok((await pdfOf([{ paragraph: '{{ text }}' }], { text })).pages > 0)
})

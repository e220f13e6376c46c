import fc from 'fast-check'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { measureText, transliterated } from '../sms/sms-text.ts'

const rows = [
  ['nothing is one message', '', 'GSM-7', 0, 1],
  ['160 characters fit into one message', 'a'.repeat(160), 'GSM-7', 160, 1],
  ['161 need two of 153', 'a'.repeat(161), 'GSM-7', 161, 2],
  ['306 fill two of 153', 'a'.repeat(306), 'GSM-7', 306, 2],
  ['307 need a third', 'a'.repeat(307), 'GSM-7', 307, 3],
  ['1530 fill ten', 'a'.repeat(1530), 'GSM-7', 1530, 10],
  ['the alphabet has Greek capitals, accents and line breaks', 'Δ ÄÖÜ àéù ñ ß £ ¥ ¿\r\n', 'GSM-7', 21, 1],
  ['characters of the extension count double', '€'.repeat(80), 'GSM-7', 160, 1],
  ['one more is two messages', '€'.repeat(81), 'GSM-7', 162, 2],
  ['the whole extension is known', '\f^{}\\[~]|€', 'GSM-7', 20, 1],
  ['an escape is not split: 76 fit into 153', '€'.repeat(153), 'GSM-7', 306, 3],
  ['it goes over to the next where one place is left', `${'a'.repeat(152)}€${'a'.repeat(151)}`, 'GSM-7', 305, 2],
  ['and that can cost a segment', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'GSM-7', 306, 3],
  ['one other character makes all of it UCS-2', `${'a'.repeat(69)}ё`, 'UCS-2', 70, 1],
  ['a small ç is not in the alphabet', 'ç', 'UCS-2', 1, 1],
  ['nor is a backtick', '`', 'UCS-2', 1, 1],
  ['71 need two of 67', 'ё'.repeat(71), 'UCS-2', 71, 2],
  ['134 fill two of 67', 'ё'.repeat(134), 'UCS-2', 134, 2],
  ['135 need a third', 'ё'.repeat(135), 'UCS-2', 135, 3],
  ['in UCS-2 the extension counts once', `ё${'€'.repeat(69)}`, 'UCS-2', 70, 1],
  ['a pair counts two', '😀'.repeat(35), 'UCS-2', 70, 1],
  ['a pair is not split: 33 fit into 67', '😀'.repeat(67), 'UCS-2', 134, 3]
] as const

for (const [rule, text, encoding, characters, segments] of rows) {
  await t.test(rule, (t) => {
    const { unicode: _, ...counted } = measureText(text)
    t.same(counted, { encoding, units: characters, segments })
    t.end()
  })
}

/** The same by hand: cuts the longest piece that fits off the text, again and again. */
function cut (text: string, cost: (piece: string) => number, room: number): number {
  if (text === '') return 0
  const points = Array.from(text)
  let max = points.length
  while (cost(points.slice(0, max).join('')) > room) max--
  return 1 + cut(points.slice(max).join(''), cost, room)
}

const septets = (piece: string): number => piece.length + (piece.match(/[\f^{}\\[~\]|€]/g) ?? []).length
const letters = fc.constantFrom('a', 'Z', '9', ' ', '€', '{', '\n', 'à')
const others = fc.constantFrom('a', '€', 'ç', '😀', '漢', '`')

await t.test('any text of the alphabet fills its segments one after the other', (t) => {
  fc.assert(fc.property(fc.string({ unit: letters, minLength: 1, maxLength: 700 }), (text) => {
    const expected = septets(text) <= 160 ? 1 : cut(text, septets, 153)
    const { encoding, units, segments } = measureText(text)
    return encoding === 'GSM-7' && units === septets(text) && segments === expected
  }))
  t.end()
})

await t.test('any other text too, in UTF-16 units', (t) => {
  fc.assert(fc.property(fc.string({ unit: others, minLength: 1, maxLength: 300 }), (text) => {
    fc.pre(/[ç😀漢`]/u.test(text))
    const expected = text.length <= 70 ? 1 : cut(text, (piece) => piece.length, 67)
    const { encoding, units, segments } = measureText(text)
    return encoding === 'UCS-2' && units === text.length && segments === expected
  }))
  t.end()
})

await t.test('the first character outside the alphabet is named, with what the text would be without such ones', (t) => {
  for (const character of ['’', '–', '\u00a0', 'ê', '😀']) {
    const length = character.length
    t.same(measureText('a'.repeat(149) + character), {
      encoding: 'UCS-2',
      units: 149 + length,
      segments: 3,
      unicode: { character, position: 150, segmentsWithout: 1 }
    }, character)
  }
  has(t, measureText('ab漢ç'), { unicode: { character: '漢', position: 3, segmentsWithout: 1 } })
  t.notOk('unicode' in measureText('Δ €'), 'a text of the alphabet has none')
  t.end()
})

await t.test('signs and letters that have a near one in the alphabet are replaced; others stay', (t) => {
  for (const [given, expected] of [
    ['l’été – « déjà » …', 'l\'été - " déjà " ...'],
    ['Šárka, Łódź, Œuvre, dvě, tên', 'Sarka, Lodz, OEuvre, dve, ten'],
    ['a\u00a0b\u202fc\u2009d', 'a b c d'],
    ['soft\u00adhy\u200bphen\ufeff', 'softhyphen'],
    ['👩\u200d👩\u200d👧 ’', '👩\u200d👩\u200d👧 \''],
    ['می\u200cخواهم', 'می\u200cخواهم'],
    ['ＡＢＣ, eﬃcient, Mª, 1º, Ⅳ', 'ABC, efficient, Ma, 1o, IV'],
    ['10² is not 102', '10² is not 102'],
    ['e\u0302', 'e'],
    ['ñ is in the alphabet, Ç too', 'ñ is in the alphabet, Ç too'],
    ['Привет 漢字 😀', 'Привет 漢字 😀']
  ] as const) t.equal(transliterated(given), expected, given)
  t.end()
})

await t.test('a text of the alphabet is never changed, and nothing is changed twice', (t) => {
  fc.assert(fc.property(fc.string({ unit: letters, maxLength: 300 }), (text) => transliterated(text) === text))
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => transliterated(transliterated(text)) === transliterated(text))
  )
  t.end()
})

await t.test('a text that is asked about again is not measured again', (t) => {
  const text = 'Votre facture à 12 € est payée'
  t.equal(measureText(text), measureText(text))
  t.not(measureText('another'), measureText(text))
  t.same(measureText(text).encoding, 'GSM-7')
  t.end()
})

import fc from 'fast-check'
import t from 'tap'
import isEmail from 'validator/lib/isEmail.js'
import { asciiDomain, asciiMailbox, comparable, hasAsciiLocalPart, isMailbox, isPlainAddress, readMailbox } from '../mailbox.ts'

await t.test('a mailbox is an address, or a name and an address in angle brackets', (t) => {
  const ada = { name: 'Ada Lovelace', address: 'ada@example.com' }
  t.same(readMailbox('ada@example.com'), { address: 'ada@example.com' })
  t.same(readMailbox('Ada Lovelace <ada@example.com>'), ada)
  t.same(readMailbox('"Ada Lovelace" <ada@example.com>'), ada)
  t.same(readMailbox('"Lovelace, \\"Ada\\"" <ada@example.com>'), { name: 'Lovelace, "Ada"', address: 'ada@example.com' })
  t.same(readMailbox('"Lovelace\\, A. O\\\'Brien" <ada@example.com>'), { name: 'Lovelace, A. O\'Brien', address: 'ada@example.com' })
  t.same(readMailbox('Zoë O\'Brien Jr. <ada@example.com>'), { name: 'Zoë O\'Brien Jr.', address: 'ada@example.com' })
  t.same(readMailbox('<ada@example.com>'), { address: 'ada@example.com' })
  t.same(readMailbox('ada@bücher.example'), { address: 'ada@bücher.example' })
  t.same(readMailbox('Zoë <zoë@bücher.example>'), { name: 'Zoë', address: 'zoë@bücher.example' })
  t.end()
})

const refused = ['', ' ', 'ada', 'ada@', '@example.com', 'ada@example', 'ada @example.com', 'ada@example.com ', 'ada@example..com',
  '"a b"@example.com', 'ada\u2028b@example.com', 'ada\u202eb@example.com', 'ada\u00a0b@example.com', 'ada\u200bb@example.com',
  'ada\u0085b@example.com', 'ada@xn--ü.com', 'ada@exam\u200fple.com', 'ada@example.com, grace@example.com',
  'ada@example.com;grace@example.com', 'Lovelace, Ada <ada@example.com>', 'grace@example.com <ada@example.com>',
  'Ada <ada@example.com> <grace@example.com>', 'Ada <ada@example.com', 'Ada ada@example.com', '"Ada" Lovelace <ada@example.com>',
  'Friends: <ada@example.com>', 'Ada\r\nBcc: grace@example.com <ada@example.com>', '"Ada\r\nBcc: grace@example.com" <ada@example.com>',
  '"a\nb"@example.com', 'ada@example.com\r\nBcc: grace@example.com', 'Ada\0 <ada@example.com>']

await t.test('anything else, more than one of them, and whatever could begin another header is none', (t) => {
  for (const text of refused) t.equal(isMailbox(text), false, encodeURI(text))
  t.end()
})

await t.test('no text with a line break or another control character is a mailbox', (t) => {
  const piece = fc.constantFrom('Ada', ' ', '"', '\\', '<', '>', ',', '@', 'ada@example.com', '<ada@example.com>', '\r\n', '\n', '\r', '\0',
    '\u0085', '\u007f', 'Bcc: ', 'x')
  fc.assert(fc.property(fc.string({ unit: piece, maxLength: 8 }), (text) => !isMailbox(text) || !/\p{Cc}/u.test(text)), { numRuns: 2000 })
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('\r\n', '\n', '\r', '\0'), fc.string(),
      (before, control, after) =>
        !isMailbox(`${before}${control}${after} <ada@example.com>`) && !isMailbox(`"${before}${control}${after}"@example.com`))
  )
  t.end()
})

await t.test('a mailbox holds one address', (t) => {
  const piece = fc.constantFrom('Ada', ' ', '"', '\\', ',', ';', '<', '>', ':', 'ada@example.com', '<ada@example.com>')
  fc.assert(fc.property(fc.string({ unit: piece, maxLength: 8 }), (text) => {
    const outsideQuotes = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    return !isMailbox(text) || outsideQuotes.split('@').length === 2
  }), { numRuns: 2000 })
  t.end()
})

await t.test('a text of a million characters is judged like any other', (t) => {
  for (const text of [' ', 'a', '\\"', 'a.'].map((piece) => piece.repeat(1_000_000))) {
    for (const long of [text, `${text}<`, `"${text}`, `"${text}"`, `ada@${text}`, `${text} <ada@example`]) t.equal(isMailbox(long), false)
  }
  t.end()
})

await t.test('a plain address is one without a name, and goes to those who know no other domains in ASCII', (t) => {
  for (const text of ['ada@example.com', 'ada@bücher.example', 'zoë@example.com']) t.equal(isPlainAddress(text), true, text)
  for (const text of ['Ada <ada@example.com>', '<ada@example.com>', 'ada', 'ada@example.com, grace@example.com']) {
    t.equal(isPlainAddress(text), false, text)
  }
  t.equal(asciiDomain('ada@bücher.example'), 'ada@xn--bcher-kva.example')
  t.end()
})

await t.test('addresses are compared without their names, and their domains in ASCII and lower case', (t) => {
  t.equal(comparable('Ada <Ada@Example.COM>'), 'Ada@example.com')
  t.equal(comparable('ada@BÜCHER.example'), 'ada@xn--bcher-kva.example')
  t.equal(comparable('zoe\u0308@example.com'), comparable('zoë@example.com'), 'and composed')
  t.end()
})

await t.test('a local part in quotes may have the characters of one without, as those of mobile operators do', (t) => {
  for (const address of ['"ada..b"@docomo.ne.jp', '"ada."@ezweb.ne.jp', '".ada"@example.com']) {
    t.same(readMailbox(address), { address })
    t.same(readMailbox(`Ada <${address}>`), { name: 'Ada', address })
    t.ok(isPlainAddress(address))
  }
  for (const address of ['ada..b@docomo.ne.jp', '"a b"@example.com', '"a,b"@example.com', '"a\\"b"@example.com', '"a<b>"@example.com',
    '""@example.com', '"a"b@example.com', '"a@b"@example.com', '"a@example.com', `"${'a'.repeat(63)}"@example.com`])
  {
    t.equal(isMailbox(address), false, address)
  }
  t.end()
})

await t.test('a mailbox keeps its name and gets the ASCII form of its domain', (t) => {
  t.equal(asciiMailbox('ada@bücher.example'), 'ada@xn--bcher-kva.example')
  t.equal(asciiMailbox('"Bücher, Ada" <ada@bücher.example>'), '"Bücher, Ada" <ada@xn--bcher-kva.example>')
  t.equal(asciiMailbox('zoë@example.com'), 'zoë@example.com')
  t.equal(hasAsciiLocalPart('Zoë <zoe@bücher.example>'), true)
  t.equal(hasAsciiLocalPart('zoë@example.com'), false)
  t.end()
})

void t.test('the short way takes nothing that the long way refuses', (t) => {
  // Characters that matter to one of the two ways are much likelier than by chance.
  const near = fc.string({ unit: fc.constantFrom(...Array.from('aZ0_+-.@xn%é"')), maxLength: 12 })
  const text = fc.tuple(near, near, fc.constantFrom('.com', '.c', '.museum', '.c0m', '', '.xn--p1ai'))
    .map(([local, domain, end]) => `${local}@${domain}${end}`)
  fc.assert(fc.property(text, (address) => !isPlainAddress(address) || isEmail.default(address.replace(/^"[^"]*"(?=@)/, 'quoted'))), {
    numRuns: 5000
  })
  const long = (length: number): string => `${'a'.repeat(length)}@example.com`
  t.same([long(64), long(65), `a@${'b'.repeat(63)}.com`, `a@${'b'.repeat(64)}.com`].map(isPlainAddress), [true, false, true, false])
  t.end()
})

import { compileJsonSchema, stringFormats } from '@dispatch/common'
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { problemsOfReply } from '../inside/fit.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })

/** For each format a text that has it, and one that nearly has it. */
const texts: Readonly<Record<string, readonly [fits: string, fails: string]>> = {
  date: ['2026-02-28', '2026-02-29'],
  email: ['ada@example.com', 'ada@example..com'],
  uri: ['mailto:ada@example.com', '/relative'],
  'uri-reference': ['/relative?a=1', 'a b'],
  time: ['10:00:00Z', '10:00:00'],
  'date-time': ['2026-02-28T10:00:00+01:00', '2026-12-31T23:59:60Z'],
  'iso-8601': ['2026-02-28', '28.02.2026'],
  day: ['2026-02-28T10:00:00', '2026-02-29T10:00:00'],
  mailbox: ['Ada Lovelace <ada@example.com>', 'Ada <ada@example.com>, bob@example.com'],
  'mail-address': ['ada@example.com', 'Ada <ada@example.com>'],
  'mail-sender': ['@example.com', '*@example.com'],
  'rsa-private-key': [privateKey.export({ type: 'pkcs8', format: 'pem' }), 'MIIEvQ'],
  'mailbox-or-none': ['', 'ada'],
  'https-url': ['https://example.com/a?b', 'http://example.com/'],
  'time-zone': ['Europe/Paris', 'Europe/Nowhere'],
  uuid: ['019a5f3e-7c1b-7d2a-9c4e-0a1b2c3d4e5f', 'urn:uuid:019a5f3e-7c1b-7d2a-9c4e-0a1b2c3d4e5f']
}

void t.test('a process of an adapter judges each format as the host does', (t) => {
  t.same(Object.keys(stringFormats), Object.keys(texts))
  for (const [format, [fits, fails]] of Object.entries(texts)) {
    const schema = { type: 'string', format }
    const outside = compileJsonSchema(schema)
    t.same([outside(fits).ok, outside(fails).ok], [true, false], `${format}: ${fits}, ${fails}`)
    for (const text of Object.values(texts).flat()) {
      const judged = outside(text)
      t.same(problemsOfReply(schema, text), judged.ok ? [] : judged.problems, `${format}: ${text}`)
    }
  }
  t.end()
})

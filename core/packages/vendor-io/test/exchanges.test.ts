import fc from 'fast-check'
import t from 'tap'
import { createNotebook, type Exchange, type Line } from '../notes/exchanges.ts'
import { createRedactor } from '../notes/redact.ts'

function noted (line: Partial<Line>, secrets: readonly string[] = []): Exchange {
  const notebook = createNotebook()
  Object.assign(notebook.begin('POST') ?? {}, line)
  const [exchange] = notebook.read(createRedactor(secrets))
  if (exchange === undefined) throw new TypeError('Nothing was noted.')
  return exchange
}

await t.test('what looks like a credential is not shown, whether the call knows it as one or not', (t) => {
  const { url, headers, body, answer } = noted({
    url: 'https://files.example/a?X-Amz-Signature=4f2a&page_token=2&token=abcd#x',
    headers: { cookie: 'session=1234', authorization: 'Bearer abc', 'x-password': 'two words', accept: 'text/plain' },
    body: Buffer.from('{"user":{"refresh_token":"r-1","name":"Ada"}}'),
    answer: { accessToken: 'a-1', list: [{ client_secret: 's-1' }], token: 7 }
  })
  t.equal(url, 'https://files.example/a?X-Amz-Signature=[redacted]&page_token=2&token=[redacted]#x')
  t.strictSame(headers, { cookie: '[redacted]', authorization: 'Bearer [redacted]', 'x-password': '[redacted]', accept: 'text/plain' })
  t.equal(body, '{"user":{"refresh_token":"[redacted]","name":"Ada"}}')
  t.equal(answer, '{"accessToken":"[redacted]","list":[{"client_secret":"[redacted]"}],"token":7}')
  t.equal(noted({ body: Buffer.from('a=1&password=hunter2&b=') }).body, 'a=1&password=[redacted]&b=')
  t.end()
})

await t.test('no part of a secret is shown, however long it is and wherever a text is cut', (t) => {
  const piece = fc.string({ minLength: 20, maxLength: 40, unit: fc.constantFrom('X', 'Y', 'Z', 'é') })
  const secret = fc.tuple(piece, fc.integer({ min: 1, max: 300 })).map(([text, times]) => text.repeat(times))
  const before = fc.oneof(fc.nat(4_000), fc.integer({ min: 60_000, max: 70_000 }))
  fc.assert(fc.property(secret, before, fc.integer({ min: 1, max: 30 }), (text, before, times) => {
    const plain = '.'.repeat(before) + `${text},`.repeat(times)
    const lines: Partial<Line>[] = [{ answer: plain }, { failure: plain }, { url: plain }, { body: Buffer.from(plain) }]
    const shown = lines.map((line) => JSON.stringify(noted(line, [text]))).join('')
    return !/[XYZé]/.test(shown)
  }), { numRuns: 100 })
  t.end()
})

await t.test('every field is bounded, and a text that the database takes', (t) => {
  const long = fc.string({ unit: 'binary', maxLength: 9_000 })
  fc.assert(fc.property(long, (text) => {
    const url = `https://vendor.example/${text}`
    const headers = Object.fromEntries(Array.from({ length: 80 }, (_, nth) => [`x-${nth}`, text]))
    const exchange = noted({ url, headers, answer: text, failure: text, body: Buffer.from(text) })
    const shown = [exchange.url, exchange.answer, exchange.failure, exchange.body, ...Object.values(exchange.headers)]
    return Object.keys(exchange.headers).length === 50 &&
      shown.every((field = '\0') => field.isWellFormed() && !field.includes('\0') && field.length <= 4_001)
  }), { numRuns: 40 })
  t.end()
})

import { createDocumentLinks, linkLength } from '@dispatch/accounts'
import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createClock } from './fixtures/access.ts'

const id = '0195a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const key = randomBytes(32)
const { now } = createClock()
const links = createDocumentLinks({ key, now })
const inAnHour = new Date(now().getTime() + 3600_000)

await t.test('every link reads as its document and has the same length', (t) => {
  fc.assert(
    fc.property(fc.uuid(), fc.date({ min: new Date('2026-03-15'), max: new Date('2106-01-01'), noInvalidDate: true }),
      (documentId, expiresAt) => {
        const token = links.sign(documentId, expiresAt)
        return token.length === linkLength && /^[\w-]+$/.test(token) && links.verify(token) === documentId
      })
  )
  t.end()
})

await t.test('a link ends at its second', (t) => {
  const clock = createClock()
  const timed = createDocumentLinks({ key, now: clock.now })
  const token = timed.sign(id, inAnHour)
  clock.advance(3599.999)
  t.equal(timed.verify(token), id)
  clock.advance(0.001)
  t.equal(timed.verify(token), undefined)
  t.end()
})

await t.test('no bit of a link can be changed', (t) => {
  const bytes = Buffer.from(links.sign(id, inAnHour), 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes)
    altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    if (links.verify(altered.toString('base64url')) !== undefined) t.fail(`bit ${bit}`)
  }
  t.end()
})

await t.test('a link of another key is none', (t) => {
  t.equal(createDocumentLinks({ key: randomBytes(32), now }).verify(links.sign(id, inAnHour)), undefined)
  t.end()
})

await t.test('whatever else stands in the place of a link is none', (t) => {
  const token = links.sign(id, inAnHour)
  for (const text of ['', token.slice(1), `${token}A`, `${token.slice(0, -1)}=`, `${token.slice(0, -1)}é`, '\0'.repeat(linkLength)]) {
    t.equal(links.verify(text), undefined)
  }
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: 'binary', minLength: linkLength, maxLength: linkLength }),
        fc.base64String({ minLength: linkLength, maxLength: linkLength })),
      (text) => links.verify(text) === undefined
    )
  )
  t.end()
})

await t.test('only a UUID can be linked', (t) => {
  for (const documentId of ['', '12', `${id}00`, id.replace('0', 'x')]) {
    t.throws(() => links.sign(documentId, inAnHour), { message: /needs a UUID/ })
  }
  t.end()
})

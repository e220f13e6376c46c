import t from 'tap'
import { createBreakers, type Line } from '../call/breaker.ts'
import type { Outcome } from '../call/dispatch.ts'

const accepted: Outcome = { outcome: 'accepted', response: { id: '1', status: 'sent' } }
const rejected: Outcome = { outcome: 'rejected', error: { word: 'provider_error', message: 'No.' } }
const unavailable: Outcome = { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Later.' } }
const uncertain: Outcome = { outcome: 'uncertain', error: { word: 'outcome_unknown', message: 'Lost.' } }
const putOff: Outcome = { outcome: 'unavailable', error: { word: 'recipient_unavailable', message: 'Greylisted.' } }
const ours: Outcome = { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Our storage.', ours: true } }

/** The calls of a service with the configuration of a company. */
const line: Line = { companyId: 1, userId: null, provider: 'acme', service: 'sms', sandbox: false }

/** A vendor's host that did not answer. */
const lost = (host: string): Outcome => ({ outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Lost.', host } })

/** Breakers of a clock that only `pass` moves, in seconds. `tell` is of the calls of one line. */
function begin () {
  let now = new Date('2026-03-14T09:30:00.000Z')
  const breakers = createBreakers({ now: () => now, failures: 3, pause: 30 })
  const tell = (...outcomes: Outcome[]): void => {
    for (const outcome of outcomes) breakers.record(line, outcome)
  }
  const pass = (seconds: number): void => {
    now = new Date(now.getTime() + seconds * 1000)
  }
  const passes = (other: Partial<Line> = {}): boolean => breakers.admit({ ...line, ...other }).pass
  return { ...breakers, tell, pass, passes, enter: () => breakers.admit(line) }
}

void t.test('opens after several failures of the vendor in a row', (t) => {
  const { tell, enter } = begin()
  tell(unavailable, uncertain)
  t.strictSame(enter(), { pass: true })
  tell(unavailable)
  t.strictSame(enter(), { pass: false, retryAfter: 30 })
  t.end()
})

void t.test('a provider is failing as long as its breaker is not closed for some company', (t) => {
  const { tell, failing, record, close } = begin()
  tell(unavailable, unavailable)
  record({ ...line, companyId: 2 }, accepted)
  record({ ...line, companyId: 2, provider: 'other' }, unavailable)
  t.strictSame([...failing()], [])
  tell(unavailable)
  t.strictSame([...failing()], [['acme', 1]])
  close({ companyId: 2 })
  t.strictSame([...failing()], [['acme', 1]])
  close({ companyId: 1 })
  t.strictSame([...failing()], [])
  t.end()
})

void t.test('a refusal proves that the vendor is there; so do an acceptance and a recipient who is put off', (t) => {
  for (const answer of [rejected, accepted, putOff]) {
    const { tell, passes } = begin()
    tell(unavailable, unavailable, answer, unavailable, unavailable)
    t.equal(passes(), true)
    tell(unavailable)
    t.equal(passes(), false)
  }
  t.end()
})

void t.test('who says that the vendor is back closes it: that of a company or of all, of a provider or of all', (t) => {
  const { tell, passes, close } = begin()
  const closed = (which: Parameters<typeof close>[0]): boolean => {
    tell(unavailable, unavailable, unavailable)
    close(which)
    return passes()
  }
  t.strictSame(
    [{ companyId: 2 }, { companyId: 11 }, { companyId: 1, providerName: 'acm' }, { companyId: null, providerName: 'other' }].map(closed),
    [false, false, false, false]
  )
  t.strictSame(
    [{ companyId: 1 }, { companyId: 1, providerName: 'acme' }, { companyId: null, providerName: 'acme' }, { companyId: null }].map(closed),
    [true, true, true, true]
  )
  t.end()
})

void t.test('what is our own fault neither opens nor closes', (t) => {
  const { tell, passes } = begin()
  tell(ours, ours, ours, ours)
  t.equal(passes(), true)
  tell(unavailable, ours, unavailable, ours, unavailable)
  t.equal(passes(), false)
  t.end()
})

void t.test('after a pause one call may try, and its end decides', (t) => {
  const { tell, pass, enter, failing } = begin()
  tell(unavailable, unavailable, unavailable)
  pass(29.5)
  t.strictSame(enter(), { pass: false, retryAfter: 1 })
  pass(0.5)
  t.strictSame([enter(), enter()], [{ pass: true }, { pass: false, retryAfter: 30 }])
  tell(unavailable)
  t.strictSame(enter(), { pass: false, retryAfter: 30 })
  pass(30)
  t.strictSame(enter(), { pass: true })
  t.equal(failing().size, 1)
  tell(accepted)
  t.strictSame([enter(), enter(), failing().size], [{ pass: true }, { pass: true }, 0])
  t.end()
})

void t.test('a try whose end is never told, or was our own fault, keeps nobody out for good', (t) => {
  const { tell, pass, enter } = begin()
  tell(unavailable, unavailable, unavailable)
  pass(30)
  t.strictSame(enter(), { pass: true })
  tell(ours)
  pass(30)
  t.strictSame([enter(), enter().pass], [{ pass: true }, false])
  t.end()
})

void t.test('every company and provider has its own', (t) => {
  const { tell, passes } = begin()
  tell(unavailable, unavailable, unavailable)
  t.strictSame([passes(), passes({ companyId: 2 }), passes({ provider: 'other' })], [false, true, true])
  t.end()
})

void t.test('every configuration has its own: what fails with the settings of one user holds back that user alone', (t) => {
  const { record, passes, failingFor, tell } = begin()
  const fail = (userId: number): void => {
    for (let failures = 0; failures < 3; failures++) record({ ...line, userId }, unavailable)
  }
  fail(7)
  t.strictSame([passes({ userId: 7 }), passes(), passes({ userId: 8 })], [false, true, true])
  t.strictSame([7, 8].map((userId) => [...failingFor({ companyId: 1, userId })]), [[['acme', 'user']], []])
  tell(unavailable, unavailable, unavailable)
  t.strictSame([7, 8].map((userId) => [...failingFor({ companyId: 1, userId })]), [[['acme', 'user']], [['acme', 'company']]])
  t.strictSame([...failingFor({ companyId: 2, userId: 7 })], [])
  t.end()
})

void t.test('a host that fails holds back the services that failed at it, and no others of the configuration', (t) => {
  const { tell, record, passes, pass, failing } = begin()
  const email: Line = { ...line, service: 'email' }
  tell(lost('a.acme.test'), lost('a.acme.test'))
  record(email, lost('a.acme.test'))
  record({ ...line, service: 'esign' }, lost('b.acme.test'))
  t.strictSame(
    [passes(), passes(email), passes({ service: 'esign' }), passes({ service: 'postal' }), passes({ sandbox: true })],
    [false, false, true, true, true],
    'the failures of both services at one host count together'
  )
  pass(30)
  t.equal(passes(), true)
  tell(lost('b.acme.test'))
  t.strictSame([passes(), failing().size], [true, 0], 'the host before it has answered, or is asked no more')
  t.end()
})

void t.test('a fault of the adapter, which is at no host, holds back every service of the configuration', (t) => {
  const { fault, passes, record } = begin()
  for (let failures = 0; failures < 3; failures++) fault(line)
  t.strictSame([passes(), passes({ service: 'email' }), passes({ userId: 7 })], [false, false, true])
  record({ ...line, service: 'email' }, accepted)
  t.equal(passes(), true)
  t.end()
})

import t from 'tap'
import { createBreakers } from '../../../core/host/call/breaker.ts'
import type { Outcome } from '../../../core/host/call/dispatch.ts'

const accepted: Outcome = { outcome: 'accepted', response: { id: '1', status: 'sent' } }
const rejected: Outcome = { outcome: 'rejected', error: { word: 'provider_error', message: 'No.' } }
const unavailable: Outcome = { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Later.' } }
const uncertain: Outcome = { outcome: 'uncertain', error: { word: 'outcome_unknown', message: 'Lost.' } }
const ours: Outcome = { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Our storage.', ours: true } }

/** Breakers of a clock that only `pass` moves, in seconds. */
function begin () {
  let now = new Date('2026-03-14T09:30:00.000Z')
  const breakers = createBreakers({ now: () => now, failures: 3, pause: 30 })
  const tell = (...outcomes: Outcome[]): void => {
    for (const outcome of outcomes) breakers.record(1, 'acme', outcome)
  }
  const pass = (seconds: number): void => {
    now = new Date(now.getTime() + seconds * 1000)
  }
  return { ...breakers, tell, pass, enter: () => breakers.admit(1, 'acme'), is: () => breakers.state(1, 'acme') }
}

void t.test('opens after several failures of the vendor in a row', (t) => {
  const { tell, enter, is } = begin()
  tell(unavailable, uncertain)
  t.strictSame([enter(), is()], [{ pass: true }, 'closed'])
  tell(unavailable)
  t.strictSame([enter(), is()], [{ pass: false, retryAfter: 30 }, 'open'])
  t.end()
})

void t.test('a provider is failing as long as its breaker is not closed for some company', (t) => {
  const { tell, failing, record, close } = begin()
  tell(unavailable, unavailable)
  record(2, 'acme', accepted)
  record(2, 'other', unavailable)
  t.strictSame([...failing()], [])
  tell(unavailable)
  t.strictSame([...failing()], [['acme', 1]])
  close({ companyId: 2 })
  t.strictSame([...failing()], [['acme', 1]])
  close({ companyId: 1 })
  t.strictSame([...failing()], [])
  t.end()
})

void t.test('a refusal proves that the vendor is there, and so does an acceptance', (t) => {
  for (const answer of [rejected, accepted]) {
    const { tell, is } = begin()
    tell(unavailable, unavailable, answer, unavailable, unavailable)
    t.equal(is(), 'closed')
    tell(unavailable)
    t.equal(is(), 'open')
  }
  t.end()
})

void t.test('who says that the vendor is back closes it: that of a company or of all, of a provider or of all', (t) => {
  const { tell, is, close } = begin()
  const opened = (which: Parameters<typeof close>[0]): string => {
    tell(unavailable, unavailable, unavailable)
    close(which)
    return is()
  }
  t.strictSame(
    [{ companyId: 2 }, { companyId: 11 }, { companyId: 1, providerName: 'acm' }, { companyId: null, providerName: 'other' }].map(opened),
    ['open', 'open', 'open', 'open']
  )
  t.strictSame(
    [{ companyId: 1 }, { companyId: 1, providerName: 'acme' }, { companyId: null, providerName: 'acme' }, { companyId: null }].map(opened),
    ['closed', 'closed', 'closed', 'closed']
  )
  t.end()
})

void t.test('what is our own fault neither opens nor closes', (t) => {
  const { tell, is } = begin()
  tell(ours, ours, ours, ours)
  t.equal(is(), 'closed')
  tell(unavailable, ours, unavailable, ours, unavailable)
  t.equal(is(), 'open')
  t.end()
})

void t.test('after a pause one call may try, and its end decides', (t) => {
  const { tell, pass, enter, is } = begin()
  tell(unavailable, unavailable, unavailable)
  pass(29.5)
  t.strictSame([enter(), is()], [{ pass: false, retryAfter: 1 }, 'open'])
  pass(0.5)
  t.equal(is(), 'half-open')
  t.strictSame([enter(), enter()], [{ pass: true }, { pass: false, retryAfter: 30 }])
  tell(unavailable)
  t.strictSame([enter(), is()], [{ pass: false, retryAfter: 30 }, 'open'])
  pass(30)
  t.strictSame(enter(), { pass: true })
  tell(accepted)
  t.strictSame([enter(), enter(), is()], [{ pass: true }, { pass: true }, 'closed'])
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
  const { tell, admit: before, state } = begin()
  tell(unavailable, unavailable, unavailable)
  t.strictSame([before(2, 'acme'), before(1, 'other')], [{ pass: true }, { pass: true }])
  t.strictSame([state(1, 'acme'), state(2, 'acme'), state(1, 'other')], ['open', 'closed', 'closed'])
  t.end()
})

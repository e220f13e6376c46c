import t from 'tap'
import type { RecipientReport } from '../../../core/packages/contract/recipients.ts'
import type { ProviderResponse } from '../../../core/packages/contract/response.ts'
import { recipientFacts, waitingIn, withRest } from '../../../core/pipeline/respond/merged-response.ts'

type Rest = Parameters<typeof withRest>[1]

const [ada, bob, cleo] = ['ada@example.com', 'bob@example.com', 'cleo@example.com']
const busy = { message: 'Try later.', code: 451 }
const answer = { id: 'm-1', status: 'partially_sent', accepted: [ada], waiting: [{ address: bob, ...busy }, { address: cleo, ...busy }] }

/** The answer after the rest of the mail ended as given. */
const after = (rest: Partial<Rest>): RecipientReport =>
  withRest(answer, { status: 'accepted', response: null, error: null, next_try_at: null, ...rest })

const response = (report: RecipientReport): ProviderResponse => ({ id: 'm-2', status: 'sent', ...report })
const error = {
  word: 'provider_unavailable' as const,
  message: 'The mail server is busy.',
  details: [{ path: '', code: '421', message: 'busy' }]
}
const turned = { message: 'The mail server is busy.', code: 421 }

void t.test('an accepted rest moves its recipients to where its own answer has them', (t) => {
  t.strictSame(after({ response: response({ accepted: [bob], rejected: [{ address: cleo, message: 'No.', code: 550 }] }) }), {
    id: 'm-1',
    status: 'partially_sent',
    accepted: [ada, bob],
    rejected: [{ address: cleo, message: 'No.', code: 550 }],
    waiting: []
  })
  t.strictSame(after({ response: response({ accepted: [bob], waiting: [{ address: cleo, ...busy }] }) }).waiting, [{
    address: cleo,
    ...busy
  }])
  t.end()
})

void t.test('a rest that a person accepted reached all of its recipients', (t) => {
  t.strictSame(after({}), { id: 'm-1', status: 'sent', accepted: [ada, bob, cleo], rejected: [], waiting: [] })
  t.end()
})

void t.test('recipients of a rest that is over are turned away, those of one that is tried again wait', (t) => {
  const away = [{ address: bob, ...turned }, { address: cleo, ...turned }]
  t.strictSame(after({ status: 'rejected', error }), { ...answer, rejected: away, waiting: [] })
  t.strictSame(after({ status: 'unavailable', error }), { ...answer, rejected: away, waiting: [] })
  t.strictSame(after({ status: 'unavailable', error, next_try_at: new Date(0) }), { ...answer, waiting: away })
  t.strictSame(after({ status: 'uncertain', error }), { ...answer, waiting: [], uncertain: away })
  t.end()
})

void t.test('the timeline names the recipients unless all were accepted', (t) => {
  const settled = (report: RecipientReport): Parameters<typeof recipientFacts>[1] => ({ outcome: 'accepted', response: response(report) })
  const part = { accepted: [ada], rejected: [], waiting: [{ address: bob, ...busy }] }
  t.strictSame(recipientFacts('email', settled(part)), part)
  t.strictSame(recipientFacts('email', settled({ accepted: [ada], rejected: [{ address: bob, ...busy }] })), {
    accepted: [ada],
    rejected: [{ address: bob, ...busy }],
    waiting: []
  })
  t.strictSame(recipientFacts('email', settled({ accepted: [ada] })), {})
  t.strictSame(recipientFacts('sms', settled(part)), {})
  t.strictSame(waitingIn(response(part)), part.waiting)
  t.strictSame(waitingIn(null), [])
  t.end()
})

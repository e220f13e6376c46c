import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { CallbackError, signed, verified } from '../index.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const known = ['company.credits_low']
const event = { type: 'company.credits_low', timestamp: '2026-11-27T10:00:00.000Z', sequence: 1, data: { name: 'Ærø', balance: 1 } }
const now = (): number => Date.parse('2026-11-27T10:00:00Z')

/** The callback of the service, by the library that its receivers use. */
const body = JSON.stringify(event)
const headers = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(now() / 1000),
  'webhook-signature': new Webhook(secret).sign('msg_1', new Date(now()), body)
}

async function fault (verifying: Promise<unknown>): Promise<CallbackError> {
  try {
    await verifying
  } catch (error) {
    if (error instanceof CallbackError) return error
    throw error
  }
  throw new Error('It was verified.')
}

void t.test('a callback is verified with any of the secrets, from headers of any server and a body as text or bytes', async (t) => {
  t.strictSame(await verified(headers, body, secret, known, { now }), event)
  t.strictSame(await verified(new Headers(headers), Buffer.from(body), [other, secret], known, { now }), event)
  const listed = {
    'Webhook-Id': ['msg_1'],
    'Webhook-Timestamp': headers['webhook-timestamp'],
    'Webhook-Signature': `v1a,x v1,AAAA ${headers['webhook-signature']}`
  }
  t.strictSame(await verified(listed, body, secret, known, { now }), event)
})

void t.test('a test event is signed as the service signs', async (t) => {
  const request = await signed(event, secret, { now, id: 'msg_1' })
  has(t, request, { body, headers })
  t.same(new Webhook(secret).verify((await signed(event, secret, {})).body, (await signed(event, secret, {})).headers), event)
})

void t.test('what cannot be trusted says in a sentence what to do', async (t) => {
  const cases: [fault: string, sentence: string | RegExp, verifying: () => Promise<unknown>][] = [
    ['signature_wrong', 'take the secret of this endpoint', () => verified(headers, body, other, known, { now })],
    ['signature_wrong', 'the body exactly as it came', () => verified(headers, `${body} `, secret, known, { now })],
    ['signature_wrong', 'fits none', () => verified({ ...headers, 'webhook-signature': 'v1,%%%' }, body, secret, known, { now })],
    ['signature_wrong', 'fits none', () => verified(headers, body, [], known, { now })],
    ...['ab_c', 'abc==', 'a', '-', 'ü'].flatMap((part): typeof cases => [
      ['signature_wrong', 'fits none', () => verified({ ...headers, 'webhook-signature': `v1,${part}` }, body, secret, known, { now })],
      ['secret_unreadable', 'is written "whsec_"', () => verified(headers, body, `whsec_${part}`, known, { now })]
    ]),
    ['secret_unreadable', 'this one is undefined', () => verified(headers, body, undefined as unknown as string, known, { now })],
    ['header_missing', 'a proxy has removed them', () => verified({}, body, secret, known, { now })],
    ['body_not_raw', 'before any middleware reads it as JSON', () => verified(headers, JSON.parse(body), secret, known, { now })],
    ['secret_unreadable', 'is written "whsec_"', () => verified(headers, body, 'hunter2', known, { now })],
    ['too_old', /signed 3600 s ago, and 300 s are allowed: set the clock/,
      () => verified(headers, body, secret, known, { now: () => now() + 3_600_000 })],
    ['too_old', /signed 3600 s ahead of this clock/, () => verified(headers, body, secret, known, { now: () => now() - 3_600_000 })]
  ]
  for (const [word, sentence, verifying] of cases) {
    const error = await fault(verifying())
    t.equal(error.fault, word)
    contains(t, error.message, sentence)
  }
  const text = await signed({}, secret, { now })
  const bare = new Webhook(secret).sign('msg_1', new Date(now()), 'hello')
  t.equal((await fault(verified({ ...headers, 'webhook-signature': bare }, 'hello', secret, known, { now }))).fault, 'not_json')
  t.equal((await fault(verified({ ...text.headers, 'webhook-timestamp': 'soon' }, text.body, secret, known, { now }))).fault,
    'signature_wrong')
})

void t.test('an event of a type that is newer than the client is told as such', async (t) => {
  const newer = { ...event, type: 'company.moved' }
  const { headers, body } = await signed(newer, secret, { now })
  has(t, await verified(headers, body, secret, known, { now }), {
    type: 'unknown',
    unknownType: 'company.moved',
    payload: newer,
    message: /answer 200 to leave it, or update the package/
  })
})

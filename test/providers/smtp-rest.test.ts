import { createBreakers } from '@dispatch/host'
import { sql } from 'kysely'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createNetwork } from '../../core/packages/vendor-io/network.ts'
import { clockAt } from '../support/clock.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'
import { answer, type MailServer, mailServer } from '../support/smtp.ts'
import { sweepAndWork } from '../support/sweep.ts'

const later = answer(451, '4.7.1 Greylisted, try again later')
const nobody = answer(550, '5.1.1 No such user')

/** What the server says to a recipient, by its local part; it takes all others. */
const replies = new Map<string, Error>()
/** What becomes of the next message once the server has it: it hangs up, or waits at the gate before it takes it. */
const next: { message?: 'cut' | Gate } = {}
const clock = clockAt('2026-03-14T09:30:00Z')
const server: MailServer = await mailServer(t, (cut) => ({
  onRcptTo: ({ address }, _session, callback) => callback(replies.get(address.replace(/@.*$/, ''))),
  onData (stream, { envelope: { mailFrom, rcptTo }, secure, user }, callback) {
    text(stream).then(async (source) => {
      const { message } = next
      delete next.message
      if (message === 'cut') {
        cut()
        return
      }
      server.mails.push({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        source,
        secure,
        user
      })
      await message?.pass()
      callback(null, 'Queued.')
    }).catch(callback)
  }
}))
const network = createNetwork({ loopback: 'allowed', ca: [server.ca], route: server.route })

// The whole service before a mail server that answers each recipient by itself. The test is the worker, and the clock is its own.
const service = await startService(t, {
  config: { runsWorker: false },
  replacements: { network, renderer: quickRenderer, now: clock.now, breakers: createBreakers({ now: clock.now, failures: 1000 }) }
})
const [dependencies, pipeline] = [service.app.get('pipelineParts'), service.app.get('pipeline')]
// A lease that is not renewed is lost when the clock says so.
service.app.get('leases').close()
const { dispatch, events, callbacks } = readingOf(service)
await service.send('PUT', '/api/v1/company/providers/smtp', {
  body: { settings: { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] } }
})

const fields = { from: 'Billing <billing@acme.test>', subject: 'Your invoice', body: 'Hello.' }
const mail = (more: Record<string, unknown>, query = '', headers: Record<string, string> = {}): Promise<Answer> =>
  service.send('POST', `/api/email${query}`, { headers, body: { providerName: 'smtp', ...fields, ...more } })
const sentTo = (): string[][] => server.mails.map(({ to }) => to)

/** So many seconds later, all that is due then is done. */
async function after (seconds: number): Promise<void> {
  clock.advance(seconds)
  await sweepAndWork(pipeline, dependencies, { ...dependencies, leases: { ...dependencies.leases, heldRuns: () => [] } })
}

t.beforeEach(() => {
  replies.clear()
  server.mails.length = 0
})

await t.test('who is put off beside others is sent the same message later, and nobody else', async (t) => {
  replies.set('grey', later)
  const { status, body } = await mail({
    to: ['ok@example.com', 'Grey <grey@example.com>'],
    bcc: ['hidden@example.com'],
    body: '<p>Hello.</p>'
  })
  has(t, { status, body }, { status: 200, body: { success: true, status: 'succeeded' } })
  const { response, date, id } = body.providerResponse
  const waiting = [{ address: 'grey@example.com', code: 451, message: '"mail.acme.test" answered: 451 4.7.1 Greylisted, try again later' }]
  t.same(body.providerResponse, {
    id,
    date,
    response,
    status: 'partially_sent',
    accepted: ['ok@example.com', 'hidden@example.com'],
    rejected: [],
    waiting
  })
  has(t, await dispatch(body.dispatchId), {
    status: 'succeeded',
    creditsCharged: 0,
    steps: [{ status: 'accepted', nextTryAt: String, providerResponse: { status: 'partially_sent', waiting } }]
  })

  const [{ seconds } = { seconds: null }, ...more] = (await sql<{ seconds: number }>`
    select extract(epoch from start_after - created_on)::int as seconds from queue.job
    where name = 'deferred' and data->>'dispatchId' = ${body.dispatchId}`.execute(service.app.get('database').owner)).rows
  t.ok(seconds === 2 || seconds === 3, 'its job is due after 2 s ± 20 %, in whole seconds')
  t.same(more, [])

  await after(3)
  t.equal(server.mails.length, 1, 'it is still put off')
  has(t, await dispatch(body.dispatchId), {
    steps: [{ nextTryAt: String, providerResponse: { status: 'partially_sent', waiting } }]
  })

  replies.delete('grey')
  await after(13)
  const [first, second, ...others] = server.mails
  t.same([first?.to, second?.to, others], [['ok@example.com', 'hidden@example.com'], ['grey@example.com'], []])
  t.equal(second?.source, first?.source, 'byte by byte')
  lacks(t, first?.source, /hidden/)
  const read = await dispatch(body.dispatchId)
  t.equal(read.steps.length, 1)
  t.equal(read.steps[0].nextTryAt, undefined)
  t.same(read.steps[0].providerResponse, {
    id,
    date,
    response,
    status: 'sent',
    accepted: ['ok@example.com', 'hidden@example.com', 'grey@example.com'],
    rejected: [],
    waiting: []
  })

  const answered = await events(body.dispatchId, 'answered')
  has(t, answered.map(({ facts }) => facts), [
    { outcome: 'accepted', accepted: ['ok@example.com', 'hidden@example.com'], rejected: [], waiting },
    { outcome: 'unavailable' },
    { outcome: 'accepted' }
  ])
  t.same(answered.map(({ service }) => service), ['email', 'email', 'email'])
  await after(3600)
  t.equal(server.mails.length, 2, 'then nothing is left')
})

await t.test('who is refused, put off and taken are told apart, until nobody is left', async (t) => {
  for (const [name, reply] of Object.entries({ bad: nobody, soon: later, never: later, gone: later })) replies.set(name, reply)
  const to = ['ok', 'bad', 'soon', 'never', 'gone'].map((name) => `${name}@example.com`)
  const { body } = await mail({ to })
  const lists = ({ accepted, rejected, waiting }: any): object => ({
    accepted,
    rejected: rejected.map((one: any) => `${one.address} ${one.code}`),
    waiting: waiting.map((one: any) => `${one.address} ${one.code}`)
  })
  t.same(lists(body.providerResponse), {
    accepted: ['ok@example.com'],
    rejected: ['bad@example.com 550'],
    waiting: ['soon@example.com 451', 'never@example.com 451', 'gone@example.com 451']
  })
  const now = async (): Promise<object> => lists((await dispatch(body.dispatchId)).steps[0].providerResponse)

  replies.delete('soon')
  replies.set('gone', nobody)
  await after(3)
  t.same(await now(), {
    accepted: ['ok@example.com', 'soon@example.com'],
    rejected: ['bad@example.com 550', 'gone@example.com 550'],
    waiting: ['never@example.com 451']
  })

  for (const seconds of [13, 73, 361, 2161, 8700]) await after(seconds)
  const ended = await dispatch(body.dispatchId)
  t.same(lists(ended.steps[0].providerResponse), {
    accepted: ['ok@example.com', 'soon@example.com'],
    rejected: ['bad@example.com 550', 'gone@example.com 550', 'never@example.com 451'],
    waiting: []
  })
  has(t, ended, { status: 'succeeded', steps: [{ status: 'accepted', providerResponse: { status: 'partially_sent' } }] })
  t.same(ended.steps[0].nextTryAt, undefined)
  t.same(sentTo(), [['ok@example.com'], ['soon@example.com']])
})

await t.test('where all are put off nothing was sent, and it is the whole that is tried again', async (t) => {
  replies.set('grey', later)
  has(t, await mail({ to: ['grey@example.com'] }), { status: 503, body: { error: 'provider_unavailable' } })
  const { body } = await mail({ to: ['grey@example.com'] }, '?async=true')
  await after(0)
  replies.delete('grey')
  await after(31)
  await after(3)
  has(t, await dispatch(body.dispatchId), {
    status: 'succeeded',
    steps: [{ providerResponse: { status: 'sent', accepted: ['grey@example.com'], waiting: [] } }]
  })
  t.equal(server.mails.length, 1)
})

await t.test('a rest whose answer is lost is in doubt, and nobody else; a person says what became of it', async (t) => {
  for (const [outcome, told] of [
    ['accepted', { status: 'sent', accepted: ['ok@example.com', 'grey@example.com'], rejected: [] }],
    ['rejected', { status: 'partially_sent', accepted: ['ok@example.com'], rejected: [{ address: 'grey@example.com' }] }]
  ] as const) {
    replies.set('grey', later)
    const callbackUrl = 'https://client.example/callbacks'
    const { body: { dispatchId } } = await mail({ to: ['ok@example.com', 'grey@example.com'], callbackUrl })
    replies.delete('grey')
    next.message = 'cut'
    await after(3)
    const uncertain = await dispatch(dispatchId)
    has(t, uncertain, {
      status: 'succeeded',
      steps: [{
        status: 'accepted',
        providerResponse: { status: 'partially_sent', accepted: ['ok@example.com'], uncertain: [{ address: 'grey@example.com' }] }
      }]
    })
    t.same(uncertain.steps[0].providerResponse.waiting, [])
    t.same(await callbacks(dispatchId), [], 'nothing is over while it is in doubt')
    await after(3600)
    t.same(sentTo(), [['ok@example.com']], 'it is not sent again blindly')
    server.mails.length = 0
    has(t, await service.send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body: { outcome, reason: 'They were asked.' } }), {
      status: 200,
      body: { status: 'succeeded' }
    })
    has(t, await dispatch(dispatchId), { status: 'succeeded', steps: [{ providerResponse: told }] })
    t.same(await callbacks(dispatchId), [`email.${told.status}`])
  }
})

await t.test('a process that dies while it sends a rest leaves the rest in doubt; one that dies before leaves it as it was', async (t) => {
  replies.set('grey', later)
  const { body: { dispatchId } } = await mail({ to: ['ok@example.com', 'grey@example.com'] })
  replies.delete('grey')
  const gate = next.message = createGate()
  const dying = after(3).catch((error: unknown) => error)
  await gate.reached
  await after(20)
  has(t, await dispatch(dispatchId), {
    status: 'succeeded',
    steps: [{ status: 'accepted', providerResponse: { accepted: ['ok@example.com'], uncertain: [{ address: 'grey@example.com' }] } }]
  })
  gate.open()
  has(t, await dying, { word: 'conflict' }, 'whoever has lost its lease records nothing')
  await after(3600)
  t.same(sentTo(), [['ok@example.com'], ['grey@example.com']])
})

await t.test('a chain goes on, and those who are left get the same message with the same document', async (t) => {
  replies.set('grey', later)
  const { template } = invoiceRequest()
  const email = {
    from: 'billing@acme.test',
    to: ['ok@example.com', 'grey@example.com'],
    subject: 'Yours',
    body: 'See {{ generatedDocument.url }}'
  }
  const { status, body } = await service.send('POST', '/api/file/email/sms', {
    body: { providerName: 'smtp', template, email, sms: { phoneNumber: '+33612345678', message: 'See it.' } }
  })
  has(t, { status, body }, {
    status: 200,
    body: { steps: [{ status: 'accepted' }, { providerResponse: { status: 'partially_sent' } }, { status: 'accepted' }] }
  })
  replies.delete('grey')
  await after(3)
  const [first, second] = server.mails
  t.same(sentTo(), [['ok@example.com'], ['grey@example.com']])
  contains(t, first?.source, /application\/pdf/)
  t.equal(second?.source, first?.source)
  has(t, await dispatch(body.dispatchId), {
    steps: [{ status: 'accepted' }, { providerResponse: { status: 'sent' } }, { status: 'accepted' }]
  })
})

await t.test('a rest does not wait for a later step that failed, and a retry of that sends it to nobody again', async (t) => {
  replies.set('grey', later)
  const email = { from: 'billing@acme.test', to: ['ok@example.com', 'grey@example.com'], subject: 'Yours', body: 'Hello.' }
  const { body } = await service.send('POST', '/api/file/email/sms', {
    body: { providerName: 'smtp', template: invoiceRequest()['template'], email, sms: { phoneNumber: '+15005550001', message: 'See it.' } }
  })
  has(t, body, { error: 'partially_dispatched', steps: [{ status: 'accepted' }, { status: 'accepted' }, { status: 'rejected' }] })
  await service.send('POST', `/api/v1/dispatches/${body.dispatchId}/retry`)
  has(t, await dispatch(body.dispatchId), {
    status: 'partial',
    steps: [{ status: 'accepted' }, { status: 'accepted', nextTryAt: String }, { status: 'rejected' }]
  })
  replies.delete('grey')
  await after(3)
  t.same(sentTo(), [['ok@example.com'], ['grey@example.com']])
  has(t, await dispatch(body.dispatchId), {
    status: 'partial',
    steps: [{ status: 'accepted' }, { providerResponse: { status: 'sent' } }, { status: 'rejected' }]
  })
})

await t.test('a repeat of the request under its key tells how the recipients stand, and sends nothing', async (t) => {
  replies.set('grey', later)
  const send = (): Promise<Answer> => mail({ to: ['ok@example.com', 'grey@example.com'] }, '', { 'x-idempotency-key': 'once' })
  has(t, await send(), { body: { providerResponse: { status: 'partially_sent' } } })
  replies.delete('grey')
  await after(3)
  has(t, await send(), {
    status: 200,
    body: { providerResponse: { status: 'sent', accepted: ['ok@example.com', 'grey@example.com'], waiting: [] } }
  })
  t.same(sentTo(), [['ok@example.com'], ['grey@example.com']])
})

await t.test('the company is told once nobody is left', async (t) => {
  replies.set('grey', later)
  replies.set('never', later)
  const callbackUrl = 'https://client.example/callbacks'
  const [one, other] = [
    await mail({ to: ['ok@example.com', 'grey@example.com'], callbackUrl }),
    await mail({ to: ['ok@example.com', 'never@example.com'], callbackUrl })
  ]
  replies.delete('grey')
  await after(3)
  t.same([await callbacks(one.body.dispatchId), await callbacks(other.body.dispatchId)], [['email.sent'], []])
  replies.set('never', nobody)
  await after(13)
  t.same(await callbacks(other.body.dispatchId), ['email.partially_sent'])
})

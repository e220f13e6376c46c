import { unavailable } from '@dispatch/core/provider'
import type { Format, Rendered } from '@dispatch/documents'
import t from 'tap'
import { runDeferredAction } from '../../core/pipeline/run/deferred.ts'
import { until } from '../core/work/support.ts'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Reading, readingOf } from '../support/reading.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'
import { testProviders } from './support/providers.ts'

const providers = await testProviders(t)
let [closed, archived] = [false, 0]
await providers.add('archive', { of: 'upload', service: 'idempotency: { kind: \'none\' }' }, ({ document }: any, { reference }) => {
  if (closed) throw unavailable('Closed.')
  archived++
  return Promise.resolve({ id: reference, status: 'stored', sha256: document.sha256 })
})
let busy = false
const renderer = {
  ...quickRenderer,
  async render<F extends Format> (job: { format: F }): Promise<Rendered<F>> {
    if (job.format !== 'html') return quickRenderer.render(job as never)
    if (busy) throw new Error('The renderer has crashed.')
    return { html: '<p>Signed</p>', text: 'Signed', inline: [] } as unknown as Rendered<F>
  }
}
const service = await startService(t, {
  config: { providerDirectories: providers.directories, prices: { upload: 2 } },
  replacements: { renderer }
})
const { app, send } = service
const { owner } = app.get('database')
const configure = (login?: Login): Promise<Answer> => send('PUT', '/api/v1/company/providers/archive', { body: { settings: {} } }, login)
await configure()
const demo = readingOf(service)

const completed = 'esign.completed'
const upload = { on: completed, service: 'upload', providerName: 'archive' }
async function signed (
  deferred: readonly object[],
  { login, path = ['esign'], more = {} }: { login?: Login, path?: readonly ('esign' | 'sms')[], more?: object } = {}
): Promise<string> {
  const answer = await send('POST', `/api/${path.join('/')}`, {
    body: chainBody(path, invoiceRequest()['template'], { providerName: 'simulator', deferred, ...more })
  }, login)
  if (answer.body.dispatchId === undefined) throw new Error(JSON.stringify(answer.body))
  return answer.body.dispatchId
}
const tell = (dispatchId: string, status: string, login?: Login): Promise<Answer> =>
  send('POST', '/api/v1/simulator/events', { body: { dispatchId, status } }, login)
const lastStep = async (dispatchId: string, { dispatch }: Reading = demo): Promise<any> => (await dispatch(dispatchId)).steps.at(-1)
const becomes = (dispatchId: string, status: string, reading?: Reading): Promise<void> =>
  until(`it is ${status}`, async () => (await lastStep(dispatchId, reading)).status === status)
/** Its next try, now. */
async function tryAgain (dispatchId: string): Promise<void> {
  const { company_id: companyId, step_id: stepId } = await owner.selectFrom('steps').select(['company_id', 'step_id']).where('dispatch_id',
    '=', dispatchId).where('deferred_on', 'is not', null).executeTakeFirstOrThrow()
  await runDeferredAction(app.get('pipelineParts'), { companyId, dispatchId, stepId })
}
t.beforeEach(() => {
  ;[closed, archived] = [false, 0]
})

await t.test('once everybody has signed, the signed document is archived: once, however often it is told, with a state ' +
  'and a price of its own', async (t) => {
  const before = await demo.credits()
  const dispatchId = await signed([upload])
  const answered = await demo.dispatch(dispatchId)
  has(t, answered, {
    status: 'succeeded',
    steps: [{ service: 'esign', status: 'accepted' }, { service: 'upload', status: 'waiting', deferredOn: completed, creditsCharged: 0 }]
  })
  t.strictSame(await demo.credits(), before, 'nothing is held for it')
  await tell(dispatchId, 'viewed')
  for (let times = 0; times < 3; times++) await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'accepted')
  await tell(dispatchId, 'completed')
  await tryAgain(dispatchId)

  const read = await demo.dispatch(dispatchId)
  has(t, read, {
    status: 'succeeded',
    finishedAt: answered.finishedAt,
    creditsCharged: 2,
    steps: [{ deliveryStatus: 'completed', creditsCharged: 0 }, { status: 'accepted', providerName: 'archive', creditsCharged: 2 }]
  })
  t.equal(read.steps[1].providerResponse.sha256, read.steps[0].generatedDocument.sha256)
  t.equal(archived, 1)
  t.strictSame(await demo.credits(), { ...before, balance: before.balance - 2 })
  const entries = (await demo.timeline(dispatchId)).filter((entry) => entry !== 'webhook esign')
  t.strictSame(entries, ['planned', 'rendered esign', 'calling esign', 'answered esign', 'fetched upload', 'calling upload',
    'answered upload'])
})

await t.test('several are done at the same event, each by its own provider', async (t) => {
  const mail = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Signed', body: 'See {{ generatedDocument.url }}' }
  const dispatchId = await signed([upload, { on: completed, service: 'email', ...mail }])
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'accepted')
  await until('both are done',
    async () => (await demo.dispatch(dispatchId)).steps.every(({ status }: { status: string }) => status === 'accepted'))
  const sent = (await demo.outbox()).filter(({ email }) => email?.subject === 'Signed')
  has(t, sent, [{
    email: { text: /^See https:\/\/dispatch\.example\.com\/d\/[\w-]{48}$/, to: ['ada@example.com'] },
    attachments: [{ contentType: 'application/pdf' }]
  }])
  t.equal(archived, 1)
  t.equal((await demo.timeline(dispatchId)).filter((entry) => entry === 'fetched email').length, 1,
    'what is linked and attached is fetched once')
})

await t.test('it is tried again like any step when its provider is unavailable, although the client of the ' +
  'dispatch was answered long ago', async (t) => {
  closed = true
  const before = await demo.credits()
  const dispatchId = await signed([upload])
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'unavailable')
  has(t, await lastStep(dispatchId), { nextTryAt: String, error: { error: 'provider_unavailable' } })
  t.strictSame(await demo.credits(), { ...before, held: before.held + 2 }, 'its price is held from the event on')
  closed = false
  await tryAgain(dispatchId)
  has(t, await lastStep(dispatchId), { status: 'accepted', creditsCharged: 2 })
  t.strictSame(await demo.credits(), { ...before, balance: before.balance - 2 })
  t.equal(archived, 1)
  t.equal((await demo.timeline(dispatchId)).filter((entry) => entry === 'fetched upload').length, 1,
    'what was fetched is not fetched again')
})

await t.test('an e-mail whose text could not be made at first has it when it is sent', async (t) => {
  busy = true
  const dispatchId = await signed([{
    on: completed,
    service: 'email',
    from: 'demo@example.com',
    to: 'ada@example.com',
    subject: 'Templated',
    template: invoiceRequest()['template']
  }])
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'unavailable')
  busy = false
  await tryAgain(dispatchId)
  has(t, (await demo.outbox()).find(({ email }) => email?.subject === 'Templated'), {
    email: { html: '<p>Signed</p>', text: 'Signed' },
    attachments: [{ contentType: 'application/pdf' }]
  })
})

await t.test('its permission is that of the moment when it is done', async (t) => {
  const { admin, member } = await service.company('withdrawn', { services: ['esign', 'upload'] })
  await configure(admin)
  const reading = readingOf(service, admin)
  const dispatchId = await signed([upload], { login: member })
  await owner.updateTable('users').set({ services: ['esign'] }).where('email', '=', member.email).execute()
  await tell(dispatchId, 'completed', admin)
  await becomes(dispatchId, 'rejected', reading)
  has(t, await lastStep(dispatchId, reading), { error: { error: 'forbidden', message: /"upload"/ }, creditsCharged: 0 })
  t.equal(archived, 0)
  has(t, await reading.dispatch(dispatchId), { status: 'succeeded' })
})

await t.test('so are its credits', async (t) => {
  const { admin } = await service.company('spent', { credits: 2 })
  await configure(admin)
  const reading = readingOf(service, admin)
  const dispatchId = await signed([upload], { login: admin })
  await send('POST', '/api/invoicing', { body: invoiceRequest() }, admin)
  await tell(dispatchId, 'completed', admin)
  await becomes(dispatchId, 'rejected', reading)
  has(t, await lastStep(dispatchId, reading), { error: { error: 'insufficient_credits' } })
  t.strictSame(await reading.credits(), { balance: 1, held: 0 })
  t.equal(archived, 0)
})

await t.test('without its configuration nobody is called, until it is back', async (t) => {
  const dispatchId = await signed([upload])
  await send('DELETE', '/api/v1/company/providers/archive')
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'unavailable')
  has(t, await lastStep(dispatchId), {
    error: { error: 'provider_unavailable', message: /configuration has been removed/ },
    nextTryAt: String
  })
  await configure()
  await tryAgain(dispatchId)
  has(t, await lastStep(dispatchId), { status: 'accepted' })
  t.equal(archived, 1)
})

await t.test('what has expired or was cancelled is never archived; what was declined only if it is signed all the same', async (t) => {
  for (const status of ['declined', 'expired', 'cancelled']) {
    const dispatchId = await signed([upload])
    await tell(dispatchId, status)
    await until(status, async () => (await demo.dispatch(dispatchId)).steps[0].deliveryStatus === status)
    await tell(dispatchId, 'completed')
    await until('told', async () => (await demo.events(dispatchId, 'webhook')).length === 2)
    if (status === 'declined') await becomes(dispatchId, 'accepted')
    has(t, await demo.dispatch(dispatchId), {
      status: 'succeeded',
      steps: [{ deliveryStatus: status === 'declined' ? 'completed' : status }, { status: status === 'declined' ? 'accepted' : 'skipped' }]
    })
    // Some vendors let a signer who has refused sign all the same.
    t.equal(archived, status === 'declined' ? 1 : 0, status)
    archived = 0
  }
})

await t.test('it is done whatever became of the rest of its dispatch', async (t) => {
  const dispatchId = await signed([upload], { path: ['esign', 'sms'], more: { sms: { phoneNumber: '+15005550001', message: 'Hello' } } })
  has(t, await demo.dispatch(dispatchId), { status: 'partial' })
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'accepted')
  has(t, await demo.dispatch(dispatchId), {
    status: 'partial',
    steps: [{ status: 'accepted' }, { status: 'rejected' }, { status: 'accepted' }]
  })
})

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { createVendorSigningKey, signDelivery } from '../../core/packages/host/webhook/sign.ts'
import { verifiersOf } from '../../core/packages/host/webhook/webhook.ts'
import { openDispatch } from '../../core/store/dispatch/dispatches.ts'
import { beginAttempt, settleStep } from '../../core/store/dispatch/steps.ts'
import { createSimulatedVendor } from '../../plugins/routes/simulated-vendor.ts'
import { until } from '../core/work/support.ts'
import { has } from '../support/matching.ts'
import { readingOf } from '../support/reading.ts'
import { startService } from '../support/service.ts'

const key = createVendorSigningKey('vendor-1')
const endpoint = 'maileva:password-of-the-endpoint'
const vendor = createSimulatedVendor({ endpointAuth: { MAILEVA: endpoint }, now: () => new Date() })
// The keys of every vendor are the test's: what a vendor signs cannot be had here.
const simulatedVendor = { ...vendor, endpoints: { ...vendor.endpoints, endpointKeys: () => key.jwks } }
const service = await startService(t, { replacements: { simulatedVendor } })
const { app, send, url } = service
const database = app.get('database')
const { dispatch, callbacks, events, credits } = readingOf(service)
const { company_id: companyId, user_id: userId } = await database.owner.selectFrom('users').select(['company_id', 'user_id']).where('email',
  '=', 'demo@example.com').executeTakeFirstOrThrow()

/** Records a step that a vendor accepted under an id, for a price, and whose client wants to be called back. */
async function accepted (provider: string, name: 'esign' | 'postal', remoteId: string): Promise<string> {
  const [dispatchId, stepId, runId] = [randomUUID(), randomUUID(), randomUUID()]
  const step = {
    stepId,
    service: name,
    by: { code: provider, version: '1.0.0', chosenBy: 'request', configuredBy: 'company', sandbox: false },
    fields: {},
    requestSettings: {},
    template: { template: { id: 1, version: 1 }, data: {} },
    price: 3
  } as const
  await openDispatch(database, {
    dispatchId,
    companyId,
    actor: { kind: 'user', userId },
    requestId: 'r',
    services: [name],
    metadata: {},
    callbackUrl: 'https://receiver.example.com/hook',
    steps: [step]
  }, { lease: { runId, seconds: 15 } })
  await beginAttempt(database, { companyId, dispatchId, stepId, runId, provider: { code: provider, version: '1.0.0' } })
  await settleStep(database, { companyId, dispatchId, stepId, runId, actor: { kind: 'system' } }, {
    outcome: 'accepted',
    response: { id: remoteId, status: 'accepted' }
  }, { status: 'succeeded' })
  return dispatchId
}

/** The event of a fixture, posted and signed as the vendor does; `instead`: a word in place of the fixture's. */
async function post (provider: string, name: 'esign' | 'postal', fixture: string, instead: [string, string] = ['', '']): Promise<string> {
  const { settings, body, expect } = JSON.parse(
    await readFile(new URL(`../../providers/${provider}/fixtures/${fixture}.json`, import.meta.url), 'utf8')
  )
  const answer = await send('PUT', `/api/v1/company/providers/${provider}`, { body: { settings } })
  const dispatchId = await accepted(provider, name, expect.remoteId)
  const webhook = app.get('host').find(provider)?.manifest.webhooks?.[name]
  if (webhook === undefined || answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  const payload = Buffer.from(JSON.stringify(body).replaceAll(...instead).replaceAll(expect.eventId, randomUUID()))
  const { headers } = await signDelivery(verifiersOf(webhook), payload, { key, settings, endpoint }, new Date())
  // What the server has the credentials for has an address of its own.
  const search = provider === 'maileva' ? '' : new URL(answer.body.webhookUrl).search
  await fetch(`${url}/api/webhooks/${name}/providers/${provider}/endpoint.json${search}`, {
    method: 'POST',
    body: payload,
    headers: { 'content-type': 'application/json', ...headers as Record<string, string> }
  })
  return dispatchId
}

const refusals: [
  provider: string,
  service: 'esign' | 'postal',
  fixture: string,
  instead: [string, string] | undefined,
  word: string,
  status: string
][] = [
  ['maileva', 'postal', 'webhook.words', ['{{word}}', 'ON_STATUS_REJECTED'], 'ON_STATUS_REJECTED', 'failed'],
  ['maileva', 'postal', 'webhook.words', ['{{word}}', 'ON_STATUS_PROCESSED_WITH_ERRORS'], 'ON_STATUS_PROCESSED_WITH_ERRORS', 'failed'],
  ['lob', 'postal', 'webhook.failed', undefined, 'letter.failed', 'failed'],
  ['lob', 'postal', 'webhook.failed', ['letter.failed', 'letter.rejected'], 'letter.rejected', 'failed'],
  ['universign', 'esign', 'webhook.refusal-words', ['{{word}}', 'signature_refusal'], 'action.stalled.signature_refusal', 'declined'],
  ['docusign', 'esign', 'webhook.signer-declined', undefined, 'recipient-declined', 'declined']
]
for (const [provider, name, fixture, instead, word, status] of refusals) {
  await t.test(`${provider}: ${word} after the acceptance is ${name}.${status}, which is called back, ` +
    'and costs what it cost', async (t) => {
    const before = await credits()
    const dispatchId = await post(provider, name, fixture, instead)
    await until('it is told', async () => (await callbacks(dispatchId)).length > 0)
    const charged = /stays charged, because a dispatch is paid when its vendor has accepted it/
    has(t, await dispatch(dispatchId), {
      status: 'succeeded',
      creditsCharged: 3,
      steps: [{ status: 'accepted', deliveryStatus: status, deliveryMessage: charged, creditsCharged: 3 }]
    })
    t.strictSame(await credits(), { ...before, balance: before.balance - 3 })
    t.strictSame(await callbacks(dispatchId), [`${name}.${status}`])
    const { body } = await database.owner.selectFrom('outbox').select('body').where('dispatch_id', '=', dispatchId)
      .executeTakeFirstOrThrow()
    has(t, JSON.parse(body ?? '{}'), { type: `${name}.${status}`, data: { steps: [{ deliveryStatus: status, deliveryMessage: charged }] } })
    const reported = await events(dispatchId, 'webhook')
    has(t, reported, [{ actor: { code: provider }, facts: { type: word, status, changed: true, message: charged } }])
    if (provider === 'lob') {
      has(t, reported, [{ facts: { reason: 'The file could not be rendered. Send a PDF whose fonts are embedded.' } }])
    }
    // Events are found by the vendor's id: the next one is about another dispatch.
    await database.owner.updateTable('steps').set({ remote_id: randomUUID() }).where('dispatch_id', '=', dispatchId).execute()
  })
}

await t.test('a word that a provider does not know stands in the timeline and changes nothing', async (t) => {
  const dispatchId = await post('lob', 'postal', 'webhook.failed', ['letter.failed', 'letter.certified.issue'])
  await until('it is noted', async () => (await events(dispatchId, 'webhook')).length === 1)
  has(t, await events(dispatchId, 'webhook'), [{ facts: { type: 'letter.certified.issue', status: 'unknown', changed: false } }])
  has(t, await dispatch(dispatchId), { steps: [{ deliveryStatus: null }] })
})

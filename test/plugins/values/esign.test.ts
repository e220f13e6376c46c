import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import docusign from '../../../providers/docusign/index.ts'
import { until } from '../../core/work/support.ts'
import { has } from '../../support/matching.ts'
import { readingOf } from '../../support/reading.ts'
import { startService } from '../../support/service.ts'
import { vendorOf } from '../../support/vendor.ts'

const { vendor, network } = await vendorOf(t)
vendor.answer({ status: 200 })
const service = await startService(t, { replacements: { network } })
const { dispatch, events } = readingOf(service)
const data = JSON.parse(await readFile(new URL('../../../templates/service-contract/sample.json', import.meta.url), 'utf8')) as object
const [ada, grace] = [
  { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
  { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
]

const settings = {
  baseHost: 'eu.docusign.net',
  accountId: 'account-1',
  integrationKey: 'integration-1',
  userId: 'user-1',
  privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
}
const configure = (code: string, settings: object): Promise<unknown> =>
  service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings } })
await configure('docusign', settings)
await configure('universign', { apiKey: 'a-key-of-universign' })

const validate = (signers: readonly object[], more: object = {}, providerName = 'docusign'): Promise<any> =>
  service.send('POST', '/api/esign/validate', { body: { template: { id: 40, data }, signers, providerName, ...more } })

await t.test('a couple with one address signs where the vendor can, and one person at two steps', async (t) => {
  const couple = [ada, { ...ada, firstName: 'William' }]
  has(t, await validate(couple), { status: 200, body: { result: 'success' } })
  has(t, await validate([{ ...ada, order: 1 }, { ...grace, order: 2 }, { ...ada, order: 3 }]), { status: 200 })
  has(t, await validate([ada, ada]), { status: 422, body: { details: [{ path: '/signers/1/email', code: 'duplicate_signer' }] } })
  has(t, await validate(couple, {}, 'universign'), {
    status: 422,
    body: {
      details: [{ path: '/signers/1/email', code: 'duplicate_signer', message: /"universign" tells signers apart by their address/ }]
    }
  })
  has(t, await validate(couple, {}, 'simulator'), { status: 200 })
})

await t.test('a language falls back to the one that the vendor writes', async (t) => {
  for (const locale of ['fr-FR', 'en-US', 'de-AT', 'fr_CA', 'PT', 'zh-Hant-HK', 'nb-NO']) {
    has(t, await validate([ada, grace], { esign: { locale } }), { status: 200 }, locale)
  }
  has(t, await validate([ada, grace], { esign: { locale: 'sw' } }), {
    status: 422,
    body: { details: [{ path: '/esign/locale', code: 'not_supported_by_provider' }] }
  })
})

await t.test('a phone number is used, or its being ignored is said', async (t) => {
  const called = [{ ...ada, phoneNumber: '+33612345678' }, grace]
  has(t, await validate(called), {
    status: 200,
    body: {
      result: 'warning',
      warnings: [{ path: '/signers/0/phoneNumber', code: 'unused_field', message: /"phoneAuthentication" turns/ }]
    }
  })
  has(t, await validate(called, {}, 'universign'), { status: 200, body: { result: 'success' } })
  await configure('docusign', { ...settings, phoneAuthentication: true })
  has(t, await validate(called), { status: 200, body: { result: 'success' } })
})

await t.test('Docusign: an envelope that expires is expired, and why it ended is read', (t) => {
  const webhook = docusign.webhooks?.esign
  const reported = (event: string, data: object): object | undefined => {
    const [reading] = [webhook?.read({ event, generatedDateTime: '2026-03-17T10:00:00Z', data: { envelopeId: 'e', ...data } }) ?? []].flat()
    return reading && { status: webhook?.events[reading.type], reason: reading.reason }
  }
  t.same(reported('envelope-voided', { envelopeSummary: { status: 'voided', voidedReason: 'Envelope has expired.' } }), {
    status: 'expired',
    reason: 'Envelope has expired.'
  })
  t.same(reported('envelope-voided', { envelopeSummary: { status: 'voided', voidedReason: 'Typo' } }), {
    status: 'cancelled',
    reason: 'Typo'
  })
  const signers = [
    { recipientId: '1', status: 'completed' },
    { recipientId: '2', status: 'declined', declinedReason: 'Wrong amount' }
  ]
  for (const [event, about] of [['recipient-declined', { recipientId: '2' }], ['envelope-declined', {}]] as const) {
    t.same(reported(event, { ...about, envelopeSummary: { status: 'declined', recipients: { signers } } }), {
      status: 'declined',
      reason: 'Wrong amount'
    })
  }
  // Without the data, the envelope is asked.
  t.same(reported('envelope-voided', {}), { status: 'cancelled', reason: undefined })
  t.same(webhook?.confirm, ['envelope-declined', 'envelope-voided'])
  t.end()
})

const callbackUrl = 'https://receiver.example.com/'
const simulate = (dispatchId: string, status: string, reason?: string): Promise<unknown> =>
  service.send('POST', '/api/v1/simulator/events', { body: { dispatchId, status, reason } })

await t.test('why a signer has declined is in the timeline, the callback and the answer of the API', async (t) => {
  const { body: { dispatchId } } = await service.send('POST', '/api/esign', {
    body: { template: { id: 40, data }, signers: [ada, grace], callbackUrl }
  })
  await simulate(dispatchId, 'viewed')
  await simulate(dispatchId, 'declined', 'Wrong\n\u202eamount')
  await until('it is told', async () => (await dispatch(dispatchId)).steps[0].deliveryStatus === 'declined')
  has(t, await dispatch(dispatchId), { steps: [{ deliveryMessage: /A signer has declined/, deliveryReason: 'Wrong amount' }] })
  has(t, (await events(dispatchId, 'webhook')).at(-1), { facts: { status: 'declined', reason: 'Wrong amount' } })
  const sent = (): any => vendor.requests.map(({ json }) => json as any).find((one) => one?.type === 'esign.declined')
  await until('it is called back', () => Promise.resolve(sent() !== undefined))
  has(t, sent(), { data: { dispatchId, steps: [{ deliveryStatus: 'declined', deliveryReason: 'Wrong amount' }] } })
  // A vendor that lets them sign after all: the reason belongs to the status before.
  await simulate(dispatchId, 'completed')
  await until('it is told', async () => (await dispatch(dispatchId)).steps[0].deliveryStatus === 'completed')
  t.notOk('deliveryReason' in (await dispatch(dispatchId)).steps[0])
})

await t.test('what a vendor answers when it is asked has a reason, too', async (t) => {
  const { body: { dispatchId } } = await service.send('POST', '/api/sms', {
    body: { sms: { phoneNumber: '+33612345678', message: 'Hello' }, callbackUrl }
  })
  await simulate(dispatchId, 'failed', 'The phone is switched off.')
  await until('it is asked', async () => (await dispatch(dispatchId)).steps[0].deliveryStatus === 'failed')
  has(t, await dispatch(dispatchId), { steps: [{ deliveryReason: 'The phone is switched off.' }] })
  has(t, await events(dispatchId, 'polled'), [{ facts: { status: 'failed', reason: 'The phone is switched off.' } }])
})

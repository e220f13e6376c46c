import { jwtVerify } from 'jose'
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { VendorReply } from '../../core/packages/conformance/vendor/vendor.ts'
import { readEvent, statusOf } from '../../core/packages/host/call/read-event.ts'
import { checkSettings } from '../../core/packages/host/settings/settings.ts'
import { verifyWebhook } from '../../core/packages/host/webhook/verify.ts'
import { verifiersOf } from '../../core/packages/host/webhook/webhook.ts'
import type { EsignDispatch } from '../../core/packages/services/esign/index.ts'
import { invoice } from '../fixtures/providers/call.ts'
import { contains, has } from '../support/matching.ts'
import { content, describesAll, type Stage, stageOf } from '../support/provider-stage.ts'

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const settings = {
  baseHost: 'eu.docusign.net',
  accountId: 'account-1',
  integrationKey: 'integration-1',
  userId: 'user-1',
  privateKey,
  webhookUser: 'connect',
  webhookPassword: 'a-webhook-password'
}
const [ada, grace, alan] = [['Ada', 'Lovelace'], ['Grace', 'Hopper'], ['Alan', 'Turing']].map(([firstName = '', lastName = '']) => ({
  firstName,
  lastName,
  email: `${firstName.toLowerCase()}@example.com`
})) as [Signer, Signer, Signer]
type Signer = EsignDispatch['esign']['signers'][number]

const contract = (more: Partial<EsignDispatch['esign']> = {}, signatures: EsignDispatch['signatures'] = []): EsignDispatch => ({
  esign: { signers: [ada], signatureType: 'SIMPLE', expiresInDays: 30, ...more },
  document: { ...invoice().document, filename: 'contract.pdf', size: content.length },
  signatures,
  data: {},
  metadata: {}
})

const envelopes = '/restapi/v2.1/accounts/account-1/envelopes'
const one = `${envelopes}/env-1`
const recycled = `PUT ${envelopes.replace('/envelopes', '/folders/recyclebin')}`
const envelope = (status: string): VendorReply => ({ json: { envelopeId: 'env-1', status } })
const answers: Record<string, VendorReply> = {
  'POST /oauth/token': { json: { access_token: 'a-token-of-docusign', token_type: 'Bearer', expires_in: 3600 } },
  [`POST ${envelopes}`]: { status: 201, json: { envelopeId: 'env-1', status: 'created' } },
  [`PUT ${one}/documents/1`]: { json: { documentId: '1' } },
  [`POST ${one}/recipients`]: { status: 201, json: { signers: [{ recipientId: '1' }] } },
  [`PUT ${one}`]: { json: { envelopeId: 'env-1' } },
  [`GET ${one}`]: envelope('created')
}
const [before, last] = [[`POST ${envelopes}`, `PUT ${one}/documents/1`, `POST ${one}/recipients`], `PUT ${one}`] as const

async function docusign (t: Test, changes: Record<string, VendorReply | [VendorReply, ...VendorReply[]]> = {}): Promise<Stage> {
  const stage = await stageOf(t, 'docusign', settings)
  for (const [what, answer] of Object.entries({ ...answers, ...changes })) stage.vendor.on(what, answer)
  return stage
}

const sentBy = ({ vendor }: Stage): string[] =>
  vendor.requests.map(({ method, path }) => `${method} ${path}`).filter((what) => !what.endsWith('/oauth/token'))
const bodyOf = ({ vendor }: Stage, what: string): any => vendor.requests.find(({ method, path }) => `${method} ${path}` === what)?.json
const error = (status: number, errorCode: string): VendorReply => ({ status, json: { errorCode, message: `It is ${errorCode}.` } })

await t.test('an envelope is a draft, its document, its signers; then it is sent', async (t) => {
  const stage = await docusign(t)
  t.strictSame(await stage.dispatch('esign', contract(), { idempotencyKey: 'key-1' }), {
    outcome: 'accepted',
    response: { id: 'env-1', status: 'sent' }
  })
  t.strictSame(sentBy(stage), [...before, last])
  t.strictSame(stage.checkpoints, ['env-1'])
  t.strictSame(bodyOf(stage, `POST ${envelopes}`), {
    status: 'created',
    transactionId: 'key-1',
    emailSubject: 'contract.pdf',
    notification: { useAccountDefaults: 'false', expirations: { expireEnabled: 'true', expireAfter: '30', expireWarn: '0' } },
    customFields: { textCustomFields: [{ name: 'dispatch_reference', value: 'step-1', show: 'false', required: 'false' }] }
  })
  const document = stage.vendor.requests.find(({ path }) => path.endsWith('/documents/1'))
  t.same(document?.body, content)
  has(t, document?.headers, {
    'content-type': 'application/pdf',
    'content-disposition': 'file; filename="contract.pdf"; documentid=1; fileExtension="pdf"'
  })
  for (const { host, headers, path } of stage.vendor.requests.slice(1)) {
    has(t, { host, ...headers }, { host: 'eu.docusign.net', authorization: 'Bearer a-token-of-docusign' }, path)
  }
})

await t.test('it signs in with a JWT of the app for the user, once for many requests', async (t) => {
  const stage = await docusign(t)
  await stage.dispatch('esign', contract())
  const tokens = stage.vendor.requests.filter(({ path }) => path === '/oauth/token')
  has(t, tokens, [{ host: 'account.docusign.com', form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' } }])
  t.equal(tokens.length, 1)
  const { payload } = await jwtVerify(tokens[0]?.form?.['assertion'] ?? '', createPublicKey(privateKey), {
    algorithms: ['RS256'],
    currentDate: new Date('2026-03-14T09:30:00Z')
  })
  has(t, payload, { iss: 'integration-1', sub: 'user-1', aud: 'account.docusign.com', scope: 'signature impersonation' })
})

await t.test('a sandbox goes to the demo system alone, and nothing else does', async (t) => {
  const stage = await docusign(t)
  has(t, await stage.dispatch('esign', contract(), { sandbox: true }), { outcome: 'accepted' })
  t.same(new Set(stage.vendor.requests.map(({ host }) => host)), new Set(['account-d.docusign.com', 'demo.docusign.net']))
  const made = stage.vendor.requests.length
  has(t, await stage.dispatch('esign', contract(), { settings: { ...settings, baseHost: 'demo.docusign.net' } }), {
    outcome: 'rejected',
    error: { code: 'wrong_environment' }
  })
  t.equal(stage.vendor.requests.length, made)
})

await t.test('signers sign in their order, or all at the same time', async (t) => {
  const orderOf = async (signers: Signer[]): Promise<unknown> => {
    const stage = await docusign(t)
    await stage.dispatch('esign', contract({ signers }))
    return bodyOf(stage, `POST ${one}/recipients`).signers.map(
      ({ name, recipientId, routingOrder }: Record<string, string>) => [name, recipientId, routingOrder]
    )
  }
  t.strictSame(await orderOf([ada, grace]), [['Ada Lovelace', '1', '1'], ['Grace Hopper', '2', '1']])
  t.strictSame(await orderOf([{ ...ada, order: 2 }, { ...grace, order: 1 }, { ...alan, order: 2 }]), [
    ['Ada Lovelace', '1', '2'],
    ['Grace Hopper', '2', '1'],
    ['Alan Turing', '3', '2']
  ])
})

await t.test('the template\'s places are Docusign\'s tabs: points from the top left, each for its signer', async (t) => {
  const stage = await docusign(t)
  const place = { page: 2, width: 150, height: 50 }
  await stage.dispatch('esign', contract({ signers: [ada, grace, alan], locale: 'fr-CA' }, [
    { ...place, signer: 1, x: 100.4, y: 600.6 },
    { ...place, signer: 2, x: 320, y: 0 },
    { ...place, signer: 1, page: 3, x: 1, y: 2 }
  ]))
  const tab = (pageNumber: string, xPosition: string, yPosition: string) => ({ documentId: '1', pageNumber, xPosition, yPosition })
  has(t, bodyOf(stage, `POST ${one}/recipients`).signers, [
    {
      tabs: { signHereTabs: [tab('2', '100', '601'), tab('3', '1', '2')] },
      emailNotification: { emailSubject: 'contract.pdf', supportedLanguage: 'fr_CA' }
    },
    { tabs: { signHereTabs: [tab('2', '320', '0')] } },
    { tabs: { signHereTabs: [] } }
  ])
})

const failures: [string, VendorReply, early: string, late: string][] = [
  ['cut off before it is sent', { cut: 'before-body' }, 'unavailable', 'uncertain'],
  ['cut off once it is sent', { cut: 'after-body' }, 'unavailable', 'uncertain'],
  ['cut off in the answer', { cut: 'in-reply' }, 'unavailable', 'uncertain'],
  ['answered with 500', error(500, 'UNSPECIFIED_ERROR'), 'unavailable', 'uncertain'],
  ['answered with 429', error(429, 'RATE'), 'unavailable', 'unavailable'],
  ['answered that the hour is used up', error(400, 'HOURLY_APIINVOCATION_LIMIT_EXCEEDED'), 'unavailable', 'unavailable'],
  ['answered with 400', error(400, 'INVALID_REQUEST_PARAMETER'), 'rejected', 'rejected'],
  ['answered with 401', error(401, 'AUTHORIZATION_INVALID_TOKEN'), 'rejected', 'rejected'],
  [
    'answered with success and an error inside',
    { json: { envelopeId: null, errorDetails: { errorCode: 'ENVELOPE_INVALID_STATUS', message: 'No.' } } },
    'rejected',
    'rejected'
  ]
]

/** What is sent after a request. */
const after = (step: string, stage: Stage): string[] => sentBy(stage).slice(sentBy(stage).lastIndexOf(step) + 1)

await t.test('each request that fails counts for what it is; nothing is sent after it but to take back the ' +
  'draft of what was refused', async (t) => {
  for (const [name, script, early, late] of failures) {
    for (const step of [...before, last]) {
      // An answer without the new envelope's id cannot be read, whatever it says.
      const expected = step === last ? late : step === before[0] && name.includes('inside') ? 'unavailable' : early
      const stage = await docusign(t, { [step]: script })
      has(t, await stage.dispatch('esign', contract()), { outcome: expected }, `${step} ${name}`)
      t.strictSame(stage.checkpoints, step === last ? ['env-1'] : [])
      if (!('cut' in script)) {
        t.strictSame(after(step, stage), expected === 'rejected' && step !== before[0] ? [recycled] : [], `${step} ${name}`)
      }
    }
  }
  const stage = await docusign(t, {
    [`POST ${one}/recipients`]: {
      status: 201,
      json: {
        signers: [
          { recipientId: '1' },
          { recipientId: '2', errorDetails: { errorCode: 'INVALID_EMAIL_ADDRESS', message: 'Not an address.' } }
        ]
      }
    }
  })
  has(t, await stage.dispatch('esign', contract({ signers: [ada, grace] })), {
    outcome: 'rejected',
    error: { code: 'INVALID_EMAIL_ADDRESS', message: 'Not an address.' }
  }, 'a signer that it did not take')
})

await t.test('after a cut where it is sent, it goes on from its checkpoint', async (t) => {
  await t.test('with the draft, where that is still one', async (t) => {
    const stage = await docusign(t, { [last]: [{ cut: 'before-body' }, answers[last]!] })
    has(t, await stage.dispatch('esign', contract()), { outcome: 'uncertain' })
    t.strictSame(await stage.ask('esign', 'lookup', { reference: 'step-1', checkpoint: 'env-1' }), { found: 'draft' })
    const made = sentBy(stage).length
    has(t, await stage.dispatch('esign', contract(), { checkpointed: 'env-1' }), { outcome: 'accepted' })
    t.strictSame(sentBy(stage).slice(made), [`GET ${one}`, last])
  })

  await t.test('with nothing, where it was sent', async (t) => {
    const stage = await docusign(t, { [`GET ${one}`]: envelope('delivered') })
    t.strictSame(await stage.dispatch('esign', contract(), { checkpointed: 'env-1' }), {
      outcome: 'accepted',
      response: { id: 'env-1', status: 'delivered' }
    })
    t.strictSame(sentBy(stage), [`GET ${one}`])
  })

  await t.test('with another draft, where that is gone', async (t) => {
    for (const status of [400, 404]) {
      const stage = await docusign(t, { [`GET ${one}`]: error(status, 'ENVELOPE_DOES_NOT_EXIST') })
      has(t, await stage.dispatch('esign', contract(), { checkpointed: 'env-1' }), { outcome: 'accepted' })
      t.strictSame(sentBy(stage).slice(1), [...before, last])
    }
  })
})

await t.test('an envelope of which no draft was recorded is found by its transaction', async (t) => {
  const lookup = async (found: object): Promise<unknown> => {
    const stage = await docusign(t, { [`GET ${envelopes}`]: { json: { resultSetSize: '1', ...found } } })
    const answer = await stage.ask('esign', 'lookup', { reference: 'step-1' }, { idempotencyKey: 'key-1' })
    t.strictSame(stage.vendor.requests.at(-1)?.query, { transaction_ids: 'key-1' })
    return answer
  }
  t.strictSame(await lookup({ envelopes: [{ envelopeId: 'env-0', status: 'created' }, { envelopeId: 'env-1', status: 'sent' }] }), {
    found: 'accepted',
    response: { id: 'env-1', status: 'sent' }
  })
  t.strictSame(await lookup({ envelopes: [{ envelopeId: 'env-0', status: 'created' }] }), { found: 'absent' },
    'nobody has heard of a draft')
  t.strictSame(await lookup({}), { found: 'absent' })
  const stage = await docusign(t, { [`GET ${envelopes}`]: { status: 500 } })
  has(t, await stage.ask('esign', 'lookup', { reference: 'step-1' }), { outcome: 'unavailable' })
})

await t.test('it is asked after, fetched and cancelled', async (t) => {
  const pdf = Buffer.from('%PDF-1.7 signed')
  const stage = await docusign(t, {
    [`GET ${one}`]: envelope('declined'),
    [`GET ${one}/documents/combined`]: { headers: { 'content-type': 'application/pdf' }, body: pdf }
  })
  const { statuses = {} } = stage.provider.manifest.services.esign ?? {}
  t.strictSame(await stage.ask('esign', 'status', { id: 'env-1' }), { status: 'declined' })
  t.strictSame(
    ['sent', 'delivered', 'signed', 'completed', 'declined', 'voided', 'created', 'processing'].map((word) => statusOf(statuses, word)),
    ['started', 'viewed', 'signed', 'completed', 'declined', 'cancelled', null, null]
  )
  has(t, await stage.ask('esign', 'document', { id: 'env-1' }), { filename: 'env-1.pdf', contentType: 'application/pdf', size: pdf.length })
  t.strictSame(await stage.ask('esign', 'cancel', { id: 'env-1' }), { status: 'voided' })
  has(t, bodyOf(stage, last), { status: 'voided', voidedReason: String })
})

await t.test('Connect\'s events sign in with Basic, are signed with its key, and are told apart without an id', async (t) => {
  const { provider } = await docusign(t)
  const webhook = provider.manifest.webhooks?.esign
  t.same(webhook?.verify, [
    { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
    { kind: 'hmac', header: 'X-DocuSign-Signature-*', algorithm: 'sha256', encoding: 'base64', secret: 'webhookSecret' }
  ])
  const read = (more: object) =>
    readEvent(provider, 'esign', Buffer.from(
      JSON.stringify({
        event: 'recipient-completed',
        generatedDateTime: '2026-03-14T09:30:00Z',
        retryCount: 0,
        data: { envelopeId: 'env-1', recipientId: '1' },
        ...more
      })
    ))
  t.strictSame(await read({}), {
    ok: true,
    reading: { remoteId: 'env-1', type: 'recipient-completed', eventId: 'recipient-completed env-1 1 2026-03-14T09:30:00Z' }
  })
  t.strictSame(await read({ retryCount: 3 }), await read({}), 'the same event, sent again')
  t.strictNotSame(await read({ data: { envelopeId: 'env-1', recipientId: '2' } }), await read({}))
  const words = {
    'envelope-sent': 'started',
    'recipient-delivered': 'viewed',
    'envelope-delivered': 'viewed',
    'recipient-completed': 'signed',
    'envelope-completed': 'completed',
    'recipient-declined': 'declined',
    'envelope-declined': 'declined',
    'envelope-voided': 'cancelled',
    'envelope-voided.expired': 'expired'
  }
  t.same(webhook?.events, words)
})

await t.test('an event that Connect has signed with several keys is its own, whichever of them is known here', async (t) => {
  const { provider: { manifest } } = await docusign(t)
  const body = Buffer.from('{"event":"envelope-completed"}')
  const macOf = (key: string): string => createHmac('sha256', key).update(body).digest('base64')
  const verdictOf = async (headers: Record<string, string>, more: Record<string, string> = {}): Promise<string> => {
    const judged = await verifyWebhook(verifiersOf(manifest.webhooks!.esign!), { headers, body }, {
      settings: () => ({ webhookSecret: 'the new key', ...more }),
      keys: { of: () => t.fail('No keys are read.') as never, certificateAt: () => t.fail('No keys are read.') as never }
    }, new Date())
    return judged.verdict
  }
  const rotating = { 'x-docusign-signature-1': macOf('the old key'), 'x-docusign-signature-2': macOf('the new key') }
  t.equal(await verdictOf(rotating), 'verified')
  t.equal(await verdictOf({ 'x-docusign-signature-1': macOf('the old key') }), 'wrong_signature')
  t.equal(await verdictOf({}), 'no_signature')
  t.equal(await verdictOf(rotating, { webhookUser: 'connect', webhookPassword: 'a password' }), 'no_signature',
    'a password that is set is asked for too')
})

await t.test('its settings are a form; its README names every one of them', async (t) => {
  const { provider: { manifest: { settings: form } } } = await docusign(t)
  const readme = await readFile(new URL('../../providers/docusign/README.md', import.meta.url), 'utf8')
  for (const [name, field] of Object.entries(form.properties)) {
    has(t, field, { title: String, description: String }, name)
    contains(t, readme, `\`${name}\``)
  }
  t.same(checkSettings(form, settings), [])
  for (const baseHost of ['docusign.net', 'evil.example', 'https://eu.docusign.net', 'eu.docusign.net.evil.example']) {
    has(t, checkSettings(form, { ...settings, baseHost }), [{ path: '/baseHost' }], baseHost)
  }
})

await describesAll(t, 'docusign', { hosts: ['eu.docusign.net'] })

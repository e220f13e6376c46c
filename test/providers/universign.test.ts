import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { VendorReply } from '../../core/packages/conformance/vendor/vendor.ts'
import { readEvent, statusOf } from '../../core/packages/host/call/read-event.ts'
import { checkSettings } from '../../core/packages/host/settings/settings.ts'
import type { EsignDispatch } from '../../core/packages/services/esign/index.ts'
import { invoice } from '../fixtures/providers/call.ts'
import { contains, has } from '../support/matching.ts'
import { content, type Stage, stageOf } from '../support/provider-stage.ts'

const settings = { apiKey: 'a-key-of-universign' }
type Signer = EsignDispatch['esign']['signers'][number]
const [ada, grace, alan] = [['Ada', 'Lovelace'], ['Grace', 'Hopper'], ['Alan', 'Turing']].map(([firstName = '', lastName = '']) => ({
  firstName,
  lastName,
  email: `${firstName.toLowerCase()}@example.com`
})) as [Signer, Signer, Signer]

const contract = (more: Partial<EsignDispatch['esign']> = {}, signatures: EsignDispatch['signatures'] = []): EsignDispatch => ({
  esign: { signers: [ada], signatureType: 'SIMPLE', expiresInDays: 30, ...more },
  document: { ...invoice().document, filename: 'contract.pdf', size: content.length },
  signatures,
  data: {},
  metadata: {}
})

const transaction = (state: string): VendorReply => ({ json: { object: 'transaction', id: 'tx_1', state, documents: [{ id: 'doc_1' }] } })
const path = '/v1/transactions/tx_1'
const answers: Record<string, VendorReply> = {
  'POST /v1/transactions': transaction('draft'),
  'POST /v1/files': { json: { object: 'file', id: 'file_1' } },
  [`POST ${path}/documents`]: { json: { id: 'doc_1' } },
  [`POST ${path}/documents/doc_1/fields`]: { json: { id: 'fld_1', type: 'signature' } },
  [`POST ${path}/signatures`]: { json: {} },
  [`POST ${path}/participants`]: { json: { email: 'ada@example.com' } },
  [`POST ${path}/sequencing`]: { json: {} },
  [`POST ${path}/start`]: transaction('started'),
  [`GET ${path}`]: transaction('draft')
}
const before = [
  'POST /v1/transactions',
  'POST /v1/files',
  `POST ${path}/documents`,
  `POST ${path}/documents/doc_1/fields`,
  `POST ${path}/signatures`,
  `POST ${path}/participants`
]
const last = `POST ${path}/start`

async function universign (t: Test, changes: Record<string, VendorReply | [VendorReply, ...VendorReply[]]> = {}): Promise<Stage> {
  const stage = await stageOf(t, 'universign', settings)
  for (const [what, answer] of Object.entries({ ...answers, ...changes })) stage.vendor.on(what, answer)
  return stage
}

const sentBy = ({ vendor }: Stage): string[] => vendor.requests.map(({ method, path }) => `${method} ${path}`)
/** The forms that were sent to an address, in order. */
const formsOf = ({ vendor }: Stage, what: string): unknown[] =>
  vendor.requests.filter(({ method, path }) => `${method} ${path}` === what).map(({ form }) => form)

await t.test('a transaction is a draft, complete, then started', async (t) => {
  const stage = await universign(t)
  t.strictSame(await stage.dispatch('esign', contract({ locale: 'en', expiresInDays: 14 })), {
    outcome: 'accepted',
    response: { id: 'tx_1', status: 'started' }
  })
  t.strictSame(sentBy(stage), [...before, last])
  t.strictSame(stage.checkpoints, ['tx_1'])
  t.strictSame(formsOf(stage, 'POST /v1/transactions'), [{
    name: 'contract.pdf (step-1)',
    language: 'en',
    duration: '20160',
    'metadata[dispatch reference]': 'step-1'
  }], '14 days are 20160 minutes')
  has(t, stage.vendor.requests[1]?.parts, [{ name: 'file', filename: 'contract.pdf', contentType: 'application/pdf', body: content }])
  t.strictSame(formsOf(stage, `POST ${path}/documents`), [{ document: 'file_1', name: 'contract.pdf' }])
  t.strictSame(formsOf(stage, `POST ${path}/participants`), [{
    email: 'ada@example.com',
    full_name: 'Ada Lovelace',
    min_signature_level: 'level1'
  }])
  t.equal(stage.vendor.requests.at(-1)?.body.length, 0)
  for (const { host, headers } of stage.vendor.requests) {
    has(t, { host, ...headers }, { host: 'api.universign.com', authorization: 'Bearer a-key-of-universign' })
  }
})

await t.test('each type of signature has its level, and a number is where the code goes', async (t) => {
  const participantOf = async (
    signatureType: EsignDispatch['esign']['signatureType'],
    more: object = {},
    signer: Signer = ada
  ): Promise<unknown> => {
    const stage = await universign(t)
    has(t, await stage.dispatch('esign', contract({ signatureType, signers: [signer] }), more), { outcome: 'accepted' })
    const [participant] = formsOf(stage, `POST ${path}/participants`)
    return participant
  }
  const whole = { email: 'ada@example.com', full_name: 'Ada Lovelace' }
  const phoned = { ...whole, phone_number: '+33612345678', phone_number_type: 'flex_prerequisite' }
  t.strictSame(await participantOf('SIMPLE'), { ...whole, min_signature_level: 'level1' }, 'without a number Universign asks for one')
  t.strictSame(await participantOf('SIMPLE', {}, { ...ada, phoneNumber: '+33612345678' }), { ...phoned, min_signature_level: 'level1' })
  t.strictSame(await participantOf('ADVANCED', {}, { ...ada, phoneNumber: '+33612345678' }), { ...phoned, min_signature_level: 'level2' })
  has(t, await participantOf('ADVANCED', { settings: { ...settings, qualifiedCertificate: true } }), { min_signature_level: 'level3' })
  has(t, await participantOf('ADVANCED', {
    settings: { ...settings, qualifiedCertificate: true },
    requestSettings: { qualifiedCertificate: false }
  }), { min_signature_level: 'level2' }, 'the request says the last word')
  has(t, await participantOf('QUALIFIED', { requestSettings: { qualifiedCertificate: true } }), { min_signature_level: 'level4' })
})

await t.test('the client\'s metadata goes along as far as Universign takes it, our reference always', async (t) => {
  const sentWith = async (metadata: Record<string, string>): Promise<unknown> => {
    const stage = await universign(t)
    has(t, await stage.dispatch('esign', { ...contract(), metadata }), { outcome: 'accepted' })
    const [transaction] = formsOf(stage, 'POST /v1/transactions') as [Record<string, string>]
    return Object.fromEntries(Object.entries(transaction).filter(([name]) => name.startsWith('metadata')))
  }
  const reference = { 'metadata[dispatch reference]': 'step-1' }
  t.strictSame(await sentWith({ customer: 'C-1001', 'contract type': 'NDA' }), {
    'metadata[customer]': 'C-1001',
    'metadata[contract type]': 'NDA',
    ...reference
  })
  t.strictSame(await sentWith({ 'a_b': '1', 'a=b': '1', 'a+b': '1', 'a[b': '1', ['k'.repeat(21)]: '1', long: 'v'.repeat(201), empty: '' }),
    reference, 'what it does not take stays here')
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key ${String(index)}`, 'v']))
  t.equal(Object.keys(await sentWith(many) as object).length, 15)
  has(t, await sentWith({ 'dispatch reference': 'another' }), reference)
})

await t.test('a sandbox goes to the test environment alone', async (t) => {
  const stage = await universign(t)
  has(t, await stage.dispatch('esign', contract(), { sandbox: true }), { outcome: 'accepted' })
  t.same(new Set(stage.vendor.requests.map(({ host }) => host)), new Set(['api.alpha.universign.com']))
})

await t.test('each place of the template is a field with the instruction to sign it, on whole pixels from the top left', async (t) => {
  const stage = await universign(t, {
    [`POST ${path}/documents/doc_1/fields`]: [
      { json: { id: 'fld_1' } },
      { json: { id: 'fld_2' } },
      { json: { id: 'fld_3' } },
      { json: { id: 'fld_4' } }
    ]
  })
  const place = { width: 150, height: 50 }
  await stage.dispatch('esign', contract({ signers: [ada, grace, alan] }, [
    { ...place, signer: 2, page: 2, x: 320, y: 0 },
    { ...place, signer: 1, page: 2, x: 100.4, y: 600.6 },
    { ...place, signer: 1, page: 3, x: 1, y: 2 }
  ]))
  t.strictSame(formsOf(stage, `POST ${path}/documents/doc_1/fields`), [
    { type: 'signature', page: '2', x: '100', y: '601' },
    { type: 'signature', page: '3', x: '1', y: '2' },
    { type: 'signature', page: '2', x: '320', y: '0' },
    { type: 'signature' }
  ], 'a signer without a place signs all the same')
  t.strictSame(formsOf(stage, `POST ${path}/signatures`), [['ada', 1], ['ada', 2], ['grace', 3], ['alan', 4]].map(([name, field]) => ({
    signer: `${String(name)}@example.com`,
    field: `fld_${String(field)}`
  })))
})

await t.test('signers sign in their order, or all at the same time', async (t) => {
  const sequenceOf = async (signers: Signer[]): Promise<unknown[]> => {
    const stage = await universign(t)
    await stage.dispatch('esign', contract({ signers }))
    return stage.vendor.requests.filter(({ path }) => path.endsWith('/sequencing')).map(({ pairs }) => pairs)
  }
  t.strictSame(await sequenceOf([ada, grace]), [])
  t.strictSame(await sequenceOf([{ ...ada, order: 1 }, { ...grace, order: 1 }]), [])
  t.strictSame(await sequenceOf([{ ...ada, order: 2 }, { ...grace, order: 1 }, { ...alan, order: 2 }]), [[
    ['before', 'grace@example.com'],
    ['after', 'ada@example.com'],
    ['after', 'alan@example.com']
  ]])
  t.strictSame(await sequenceOf([{ ...ada, order: 3 }, { ...grace, order: 2 }, { ...alan, order: 1 }]), [
    [['before', 'alan@example.com'], ['after', 'grace@example.com']],
    [['before', 'grace@example.com'], ['after', 'ada@example.com']]
  ])
})

const failures: [string, VendorReply, early: string, late: string][] = [
  ['cut off before it is sent', { cut: 'before-body' }, 'unavailable', 'uncertain'],
  ['cut off once it is sent', { cut: 'after-body' }, 'unavailable', 'uncertain'],
  ['cut off in the answer', { cut: 'in-reply' }, 'unavailable', 'uncertain'],
  ['answered with 503', { status: 503 }, 'unavailable', 'uncertain'],
  ['answered with 429', { status: 429 }, 'unavailable', 'unavailable'],
  ['answered with 400', { status: 400 }, 'rejected', 'rejected'],
  ['answered with 401', { status: 401 }, 'rejected', 'rejected']
]

/** What is sent after a request. */
const after = (step: string, stage: Stage): string[] => sentBy(stage).slice(sentBy(stage).lastIndexOf(step) + 1)

await t.test('each request that fails counts for what it is; nothing is sent after it but to take back the ' +
  'draft of what was refused', async (t) => {
  const ordered = contract({ signers: [{ ...ada, order: 1 }, { ...grace, order: 2 }] })
  for (const [name, script, early, late] of failures) {
    for (const step of [...before, `POST ${path}/sequencing`, last]) {
      const stage = await universign(t, { [step]: script })
      const expected = step === last ? late : early
      has(t, await stage.dispatch('esign', ordered), { outcome: expected }, `${step} ${name}`)
      t.strictSame(stage.checkpoints, step === last ? ['tx_1'] : [])
      if (!('cut' in script)) {
        t.strictSame(after(step, stage), expected === 'rejected' && step !== before[0] ? [`POST ${path}/cancel`] : [], `${step} ${name}`)
      }
    }
  }
  const stage = await universign(t, { [last]: { json: { object: 'surprise' } } })
  has(t, await stage.dispatch('esign', ordered), { outcome: 'uncertain' }, 'an answer of another shape')
  for (const [status, word] of [
    [400, 'provider_error'],
    [401, 'authentication_error'],
    [403, 'authentication_error'],
    [
      404,
      'provider_error'
    ]
  ] as const) {
    has(t, await (await universign(t, { 'POST /v1/transactions': { status } })).dispatch('esign', contract()), {
      outcome: 'rejected',
      error: { word }
    })
  }
})

await t.test('after a cut where it is started, it goes on from its checkpoint', async (t) => {
  await t.test('with the draft, where that is still one', async (t) => {
    const stage = await universign(t, { [last]: [{ cut: 'before-body' }, answers[last]!] })
    has(t, await stage.dispatch('esign', contract()), { outcome: 'uncertain' })
    t.strictSame(await stage.ask('esign', 'lookup', { reference: 'step-1', checkpoint: 'tx_1' }), { found: 'draft' })
    const made = sentBy(stage).length
    has(t, await stage.dispatch('esign', contract(), { checkpointed: 'tx_1' }), { outcome: 'accepted' })
    t.strictSame(sentBy(stage).slice(made), [`GET ${path}`, last])
  })

  await t.test('with nothing, where it was started', async (t) => {
    const stage = await universign(t, { [`GET ${path}`]: transaction('completed') })
    t.strictSame(await stage.dispatch('esign', contract(), { checkpointed: 'tx_1' }), {
      outcome: 'accepted',
      response: { id: 'tx_1', status: 'completed' }
    })
    t.strictSame(await stage.ask('esign', 'lookup', { reference: 'step-1', checkpoint: 'tx_1' }), {
      found: 'accepted',
      response: { id: 'tx_1', status: 'completed' }
    })
    t.same(new Set(sentBy(stage)), new Set([`GET ${path}`]))
  })

  await t.test('with another draft, where that is gone', async (t) => {
    const stage = await universign(t, { [`GET ${path}`]: { status: 404 } })
    has(t, await stage.dispatch('esign', contract(), { checkpointed: 'tx_1' }), { outcome: 'accepted' })
    t.strictSame(sentBy(stage), [`GET ${path}`, ...before, last])
  })

  await t.test('not at all, while nobody can say what became of the draft', async (t) => {
    const stage = await universign(t, { [`GET ${path}`]: { status: 500 } })
    has(t, await stage.ask('esign', 'lookup', { reference: 'step-1', checkpoint: 'tx_1' }), { outcome: 'unavailable' })
    t.not((await stage.dispatch('esign', contract(), { checkpointed: 'tx_1' })).outcome, 'accepted')
    t.same(new Set(sentBy(stage)), new Set([`GET ${path}`]))
  })
})

await t.test('before its checkpoint there is nothing to be found, and nobody is asked', async (t) => {
  const stage = await universign(t)
  t.strictSame(await stage.ask('esign', 'lookup', { reference: 'step-1' }), { found: 'absent' })
  t.strictSame(sentBy(stage), [])
})

await t.test('it is asked after, fetched once all have signed, and cancelled', async (t) => {
  const pdf = Buffer.from('%PDF-1.7 signed')
  const stage = await universign(t, {
    [`GET ${path}`]: [transaction('completed'), transaction('completed'), transaction('started')],
    [`GET ${path}/archive/documents/doc_1/download`]: { headers: { 'content-type': 'application/pdf' }, body: pdf },
    [`POST ${path}/cancel`]: transaction('cancelled')
  })
  const { statuses = {} } = stage.provider.manifest.services.esign ?? {}
  t.strictSame(await stage.ask('esign', 'status', { id: 'tx_1' }), { status: 'completed' })
  t.strictSame(['started', 'completed', 'archived', 'cancelled', 'expired', 'paused'].map((word) => statusOf(statuses, word)), [
    'started',
    'completed',
    'completed',
    'cancelled',
    'expired',
    null
  ])
  has(t, await stage.ask('esign', 'document', { id: 'tx_1' }), { filename: 'tx_1.pdf', contentType: 'application/pdf', size: pdf.length })
  has(t, await stage.ask('esign', 'document', { id: 'tx_1' }), { outcome: 'rejected', error: { code: 'not_completed' } })
  t.strictSame(await stage.ask('esign', 'cancel', { id: 'tx_1' }), { status: 'cancelled' })
})

await t.test('its events are signed with keys of each environment, and those of transactions are read', async (t) => {
  const { provider } = await universign(t)
  const webhook = provider.manifest.webhooks?.esign
  const signedBy = { kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256' }
  t.strictSame(webhook?.verify, [
    { ...signedBy, jwks: 'https://api.universign.com/v1/webhooks/jwks.json', sandbox: false },
    { ...signedBy, jwks: 'https://api.alpha.universign.com/v1/webhooks/jwks.json', sandbox: true }
  ])
  const read = (type: string, id: string) =>
    readEvent(provider, 'esign', Buffer.from(
      JSON.stringify({
        object: 'event',
        id: 'evt_1',
        type,
        createdAt: 1773480600,
        payload: { object: { object: 'transaction', id, state: 'completed' } }
      })
    ))
  for (const [word, status] of [
    ['started', 'started'],
    ['completed', 'completed'],
    ['expired', 'expired'],
    ['cancelled', 'cancelled'],
    ['paused', null]
  ] as const) {
    const type = `transaction.lifecycle.${word}`
    t.strictSame(await read(type, 'tx_1'), { ok: true, reading: { eventId: 'evt_1', remoteId: 'tx_1', type } })
    t.equal(statusOf(webhook?.events ?? {}, type), status, word)
  }
  has(t, await read('apikey.created', 'key_1'), { ok: false })
})

await t.test('what a participant does is an event of the transaction: a signature, or a refusal', async (t) => {
  const { provider } = await universign(t)
  const { events = {} } = provider.manifest.webhooks?.esign ?? {}
  const told = async (type: string, more: object = {}): Promise<unknown> => {
    const object = { participant_email: 'ada@example.com', action_id: 'act_1', transaction_id: 'tx_1', ...more }
    const read = await readEvent(provider, 'esign',
      Buffer.from(JSON.stringify({ object: 'event', id: 'evt_1', type, payload: { object } })))
    if (!read.ok) return t.fail(read.reason)
    has(t, read.reading, { eventId: 'evt_1', remoteId: 'tx_1', participant: 'ada@example.com' })
    return statusOf(events, read.reading.type)
  }
  t.equal(await told('action.closed'), 'signed')
  t.equal(await told('action.closed', { id: 'act_1', stalled_reason: null }), 'signed', 'an action may carry an id of its own')
  for (const reason of ['action_refusal', 'signature_refusal', 'consultation_refusal', 'review_refusal']) {
    t.equal(await told('action.stalled', { stalled_reason: reason }), 'declined', reason)
  }
  t.equal(await told('action.stalled', { stalled_reason: 'inactivity' }), null, 'who lets time pass has refused nothing')
  t.equal(await told('action.stalled'), null)
  t.equal(await told('action.opened'), null)
})

await t.test('a refusal shows when it is asked after, and what the vendor says of an error is told', async (t) => {
  const stage = await universign(t, {
    [`GET ${path}`]: [
      { json: { id: 'tx_1', state: 'started', stalled: true, stalled_reason: 'signature_refusal' } },
      { json: { id: 'tx_1', state: 'started', stalled: true, stalled_reason: 'inactivity' } },
      { json: { id: 'tx_1', state: 'completed', stalled_reason: 'signature_refusal' } }
    ]
  })
  const { statuses = {} } = stage.provider.manifest.services.esign ?? {}
  t.strictSame(await stage.ask('esign', 'status', { id: 'tx_1' }), { status: 'signature_refusal' })
  t.equal(statusOf(statuses, 'signature_refusal'), 'declined')
  t.strictSame(await stage.ask('esign', 'status', { id: 'tx_1' }), { status: 'started' })
  t.strictSame(await stage.ask('esign', 'status', { id: 'tx_1' }), { status: 'completed' }, 'they have signed after all')
  for (const [json, error] of [
    [{ error: { code: 'invalid', message: 'No such field.' } }, { code: 'invalid', message: 'No such field.' }],
    [{ error: 'invalid_request', error_description: 'No such field.' }, { message: 'No such field.' }],
    [{ reasons: ['No such field.'] }, { message: '"api.universign.com" answered 400: {"reasons":["No such field."]}.' }]
  ] as const) {
    has(t, await (await universign(t, { 'POST /v1/transactions': { status: 400, json } })).dispatch('esign', contract()), {
      outcome: 'rejected',
      error: { word: 'provider_error', ...error }
    })
  }
})

await t.test('its settings are a form; its README names every one of them', async (t) => {
  const { provider: { manifest: { settings: form } } } = await universign(t)
  const readme = await readFile(new URL('../../providers/universign/README.md', import.meta.url), 'utf8')
  for (const [name, field] of Object.entries(form.properties)) {
    has(t, field, { title: String, description: String }, name)
    contains(t, readme, `\`${name}\``)
  }
  t.same(checkSettings(form, settings), [])
  for (const apiKey of ['', 'a key']) t.same([...new Set(checkSettings(form, { apiKey }).map(({ path }) => path))], ['/apiKey'], apiKey)
})

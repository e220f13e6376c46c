import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { JsonObject } from '../../core/packages/common/json.ts'
import type { VendorReply } from '../../core/packages/conformance/vendor/vendor.ts'
import { readEvent, statusOf } from '../../core/packages/host/call/read-event.ts'
import { checkSettings } from '../../core/packages/host/settings/settings.ts'
import type { PostalDispatch } from '../../core/packages/services/postal/index.ts'
import { invoice } from '../fixtures/providers/call.ts'
import { contains, has } from '../support/matching.ts'
import { content, type More, type Stage, stageOf } from '../support/provider-stage.ts'

const settings = { clientId: 'client-1', clientSecret: 'a-client-secret', username: 'ada@example.com', password: 'a-password' }
const sender = { senderName: 'Northwind', senderStreet: '12 rue de la Paix', senderCity: '75002 Paris' }
const recipient = { name: 'Ada Lovelace', address: '10 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const letter = (more: Partial<PostalDispatch['postal']> = {}): PostalDispatch => ({
  postal: { recipient, mailType: 'SIMPLE', color: false, duplex: false, ...more },
  document: { ...invoice().document, size: content.length },
  metadata: {}
})
const registered: PostalDispatch = letter({ mailType: 'REGISTERED' })
const withSender: More = { settings: { ...settings, ...sender } }

const sending = (status: string): VendorReply => ({ json: { id: 'snd-1', status } })
const missing: VendorReply = { status: 404, json: { code: 'NOT_FOUND', message: 'No such sending.' } }
const token = 'POST /auth/realms/services/protocol/openid-connect/token'

/** A product's answers: what is made is a draft, and is found in the product alone. */
const answersOf = (product: string): Record<string, VendorReply> => ({
  [`POST ${product}/sendings`]: { status: 201, ...sending('DRAFT') },
  [`POST ${product}/sendings/snd-1/documents`]: { status: 201, json: { id: 'doc-1' } },
  [`POST ${product}/sendings/snd-1/recipients`]: { status: 201, json: { id: 'rec-1' } },
  [`POST ${product}/sendings/snd-1/submit`]: { status: 200 }
})
const [simple, recorded] = ['/mail/v2', '/registered_mail/v4']
const answers: Record<string, VendorReply> = {
  [token]: { json: { access_token: 'a-token-of-maileva', token_type: 'Bearer', expires_in: 300 } },
  ...answersOf(simple),
  ...answersOf(recorded),
  [`GET ${simple}/sendings/snd-1`]: sending('DRAFT'),
  [`GET ${recorded}/sendings/snd-1`]: missing
}
const calls = (product: string): string[] =>
  ['', '/snd-1/documents', '/snd-1/recipients', '/snd-1/submit'].map((path) => `POST ${product}/sendings${path}`)
const last = `POST ${simple}/sendings/snd-1/submit`
const read = `GET ${simple}/sendings/snd-1`

async function maileva (t: Test, changes: Record<string, VendorReply | [VendorReply, ...VendorReply[]]> = {}): Promise<Stage> {
  const stage = await stageOf(t, 'maileva', settings)
  for (const [what, answer] of Object.entries({ ...answers, ...changes })) stage.vendor.on(what, answer)
  return stage
}

const sentBy = ({ vendor }: Stage): string[] =>
  vendor.requests.map(({ method, path }) => `${method} ${path}`).filter((what) => what !== token)
const jsonOf = ({ vendor }: Stage, what: string): any => vendor.requests.findLast(({ method, path }) => `${method} ${path}` === what)?.json

await t.test('a letter is a draft with its document and its recipient, then submitted', async (t) => {
  const stage = await maileva(t)
  t.strictSame(await stage.dispatch('postal', letter()), { outcome: 'accepted', response: { id: 'snd-1', status: 'PENDING' } })
  t.strictSame(sentBy(stage), calls(simple))
  t.strictSame(stage.checkpoints, ['snd-1'])
  t.strictSame(jsonOf(stage, `POST ${simple}/sendings`), {
    name: 'F-1.pdf',
    custom_id: 'step1',
    color_printing: false,
    duplex_printing: false,
    optional_address_sheet: true,
    postage_type: 'ECONOMIC'
  })
  t.strictSame(jsonOf(stage, `POST ${simple}/sendings/snd-1/recipients`), {
    address_line_1: 'Ada Lovelace',
    address_line_4: '10 rue de la Paix',
    address_line_6: '75002 Paris',
    country_code: 'FR',
    custom_id: 'step1'
  })
  const parts = stage.vendor.requests.find(({ path }) => path.endsWith('/documents'))?.parts
  has(t, parts, [{ name: 'document', filename: 'F-1.pdf', contentType: 'application/pdf', body: content }, { name: 'metadata' }])
  t.strictSame(JSON.parse(String(parts?.[1]?.body)), { priority: 1, name: 'F-1.pdf' })
  for (const { host, path, headers } of stage.vendor.requests.slice(1)) {
    has(t, { host, ...headers }, { host: 'api.maileva.com', authorization: 'Bearer a-token-of-maileva' }, path)
  }
})

await t.test('it signs in with the application and the account, once for many requests, and in a sandbox at that of trials', async (t) => {
  const stage = await maileva(t)
  await stage.dispatch('postal', letter())
  const tokens = stage.vendor.requests.filter(({ path }) => path.endsWith('/token'))
  t.strictSame(tokens.map(({ host, form }) => ({ host, form })), [{
    host: 'connexion.maileva.com',
    form: {
      grant_type: 'password',
      username: 'ada@example.com',
      password: 'a-password',
      client_id: 'client-1',
      client_secret: 'a-client-secret'
    }
  }])
  const trial = await maileva(t)
  has(t, await trial.dispatch('postal', letter(), { sandbox: true }), { outcome: 'accepted' })
  t.same(new Set(trial.vendor.requests.map(({ host }) => host)), new Set(['connexion.sandbox.maileva.net', 'api.sandbox.maileva.net']))
  for (const code of ['invalid_grant', 'invalid_client', 'unauthorized_client']) {
    const refusing = await maileva(t, { [token]: { status: 400, json: { error: code, error_description: 'No.' } } })
    has(t, await refusing.dispatch('postal', letter()), { outcome: 'rejected', error: { word: 'authentication_error' } }, code)
    t.strictSame(sentBy(refusing), [])
  }
})

await t.test('colour, duplex, postage and the address sheet have their fields', async (t) => {
  const stage = await maileva(t)
  const optionsOf = async (more: Partial<PostalDispatch['postal']>, changes = {}): Promise<unknown> => {
    await stage.dispatch('postal', letter(more), { settings: { ...settings, ...changes } })
    return jsonOf(stage, `POST ${simple}/sendings`)
  }
  has(t, await optionsOf({ color: true, duplex: true }), { color_printing: true, duplex_printing: true })
  has(t, await optionsOf({ color: false, duplex: true }), { color_printing: false, duplex_printing: true })
  has(t, await optionsOf({}, { postageType: 'FAST', addressSheet: false }), { postage_type: 'FAST', optional_address_sheet: false })
})

await t.test('a registered letter is another product, with a sender and an acknowledgement', async (t) => {
  const stage = await maileva(t)
  has(t, await stage.dispatch('postal', registered, withSender), { outcome: 'accepted' })
  t.strictSame(sentBy(stage), calls(recorded))
  const options = jsonOf(stage, `POST ${recorded}/sendings`)
  has(t, options, {
    acknowledgement_of_receipt: true,
    sender_address_line_1: 'Northwind',
    sender_address_line_4: '12 rue de la Paix',
    sender_address_line_6: '75002 Paris',
    sender_country_code: 'FR'
  })
  t.notOk('postage_type' in options)
  await stage.dispatch('postal', registered, {
    settings: { ...settings, ...sender, senderDetails: 'Billing', senderCountry: 'BE', acknowledgement: false }
  })
  has(t, jsonOf(stage, `POST ${recorded}/sendings`), {
    acknowledgement_of_receipt: false,
    sender_address_line_2: 'Billing',
    sender_country_code: 'BE'
  })
  const before = stage.vendor.requests.length
  for (const name of Object.keys(sender)) {
    has(t, await stage.dispatch('postal', registered, { settings: { ...settings, ...sender, [name]: undefined } }), {
      outcome: 'rejected',
      error: { code: 'no_sender' }
    }, `without ${name}`)
  }
  t.equal(stage.vendor.requests.length, before)
})

await t.test('an address has six lines of 38 characters', async (t) => {
  const stage = await maileva(t)
  const linesOf = async (more: Partial<typeof recipient> & { company?: string }): Promise<unknown> => {
    const { outcome } = await stage.dispatch('postal', letter({ recipient: { ...recipient, ...more } }))
    if (outcome !== 'accepted') return outcome
    const address = jsonOf(stage, `POST ${simple}/sendings/snd-1/recipients`)
    return [1, 2, 3, 4, 5, 6].map((line) => address[`address_line_${line}`])
  }
  const [name, city] = ['Ada Lovelace', '75002 Paris']
  t.strictSame(await linesOf({}), [name, undefined, undefined, '10 rue de la Paix', undefined, city])
  t.strictSame(await linesOf({ company: 'Engines' }), ['Engines', name, undefined, '10 rue de la Paix', undefined, city])
  t.strictSame(await linesOf({ address: ' Bâtiment B \n\n10 rue de la Paix' }), [name, undefined, 'Bâtiment B', '10 rue de la Paix',
    undefined, city])
  t.strictSame(await linesOf({ address: 'A\nB\nC' }), [name, undefined, 'A', 'B', 'C', city])
  t.strictSame(await linesOf({ address: 'A\nB\nC\nD' }), [name, 'A', 'B', 'C', 'D', city])
  t.strictSame(await linesOf({ address: 'é'.repeat(38) }), [name, undefined, undefined, 'é'.repeat(38), undefined, city])
  const abroad = await linesOf({ city: 'London', postalCode: 'SW1A1AA', country: 'GB' })
  t.strictSame(abroad, [name, undefined, undefined, '10 rue de la Paix', undefined, 'London SW1A 1AA'], 'in the order of the country')
  const before = stage.vendor.requests.length
  for (const more of [
    { address: 'A\nB\nC\nD\nE' },
    { address: 'A\nB\nC\nD', company: 'Engines' },
    { name: 'A'.repeat(39) },
    { address: 'A'.repeat(39) },
    { city: 'A'.repeat(33) }
  ]) {
    t.equal(await linesOf(more), 'rejected', JSON.stringify(more))
  }
  t.equal(stage.vendor.requests.length, before, 'and nothing is sent')
})

await t.test('our reference is its custom id, in 32 characters', async (t) => {
  const stage = await maileva(t)
  const idOf = async (reference: string): Promise<string> => {
    await stage.dispatch('postal', letter(), { reference })
    return jsonOf(stage, `POST ${simple}/sendings`).custom_id
  }
  t.equal(await idOf('01960000-0000-7000-8000-000000000001'), '01960000000070008000000000000001')
  t.equal(await idOf('x'.repeat(33)), hash('sha256', 'x'.repeat(33)).slice(0, 32))
})

const failures: [string, VendorReply, early: string, late: string][] = [
  ['cut off before it is sent', { cut: 'before-body' }, 'unavailable', 'uncertain'],
  ['cut off once it is sent', { cut: 'after-body' }, 'unavailable', 'uncertain'],
  ['cut off in the answer', { cut: 'in-reply' }, 'unavailable', 'uncertain'],
  ['answered with 500', { status: 500 }, 'unavailable', 'uncertain'],
  ['answered with 429', { status: 429 }, 'unavailable', 'unavailable'],
  ['answered with 400', { status: 400, json: { errors: [{ code: 'BAD', message: 'It is bad.' }] } }, 'rejected', 'rejected'],
  ['answered with 403', { status: 403, json: { code: 'FORBIDDEN', message: 'No.' } }, 'rejected', 'rejected']
]

/** What is sent after a request. */
const after = (step: string, stage: Stage): string[] => sentBy(stage).slice(sentBy(stage).lastIndexOf(step) + 1)

await t.test('each request that fails counts for what it is; nothing is sent after it but to take back the ' +
  'draft of what was refused', async (t) => {
  for (const [request, more, product] of [[letter(), {}, simple], [registered, withSender, recorded]] as const) {
    const submit = `POST ${product}/sendings/snd-1/submit`
    for (const [name, script, early, late] of failures) {
      for (const step of calls(product)) {
        const stage = await maileva(t, { [step]: script })
        const expected = step === submit ? late : early
        has(t, await stage.dispatch('postal', request, more), { outcome: expected }, `${step} ${name}`)
        t.strictSame(stage.checkpoints, step === submit ? ['snd-1'] : [])
        if (!('cut' in script)) {
          t.strictSame(after(step, stage),
            expected === 'rejected' && step !== calls(product)[0] ? [`DELETE ${product}/sendings/snd-1`] : [], `${step} ${name}`)
        }
      }
    }
  }
  const bad = await maileva(t, { [`POST ${simple}/sendings`]: failures[5]![1] })
  has(t, await bad.dispatch('postal', letter()), { error: { word: 'provider_error', code: 'BAD', message: 'It is bad.' } })
})

await t.test('after a cut where it is submitted, it goes on from its checkpoint', async (t) => {
  await t.test('with the draft, where that is still one', async (t) => {
    const stage = await maileva(t, { [last]: [{ cut: 'before-body' }, answers[last]!] })
    has(t, await stage.dispatch('postal', letter()), { outcome: 'uncertain' })
    t.strictSame(await stage.ask('postal', 'lookup', { reference: 'step-1', checkpoint: 'snd-1' }), { found: 'draft' })
    const made = sentBy(stage).length
    has(t, await stage.dispatch('postal', letter(), { checkpointed: 'snd-1' }), { outcome: 'accepted' })
    t.strictSame(sentBy(stage).slice(made), [read, last])
  })

  await t.test('in its own product: an id does not say of which', async (t) => {
    const stage = await maileva(t, { [read]: missing, [`GET ${recorded}/sendings/snd-1`]: sending('DRAFT') })
    has(t, await stage.dispatch('postal', registered, { ...withSender, checkpointed: 'snd-1' }), { outcome: 'accepted' })
    t.strictSame(sentBy(stage), [read, `GET ${recorded}/sendings/snd-1`, `POST ${recorded}/sendings/snd-1/submit`])
  })

  await t.test('with nothing, where it was submitted or rejected', async (t) => {
    for (const status of ['PENDING', 'ACCEPTED', 'PROCESSED', 'PROCESSED_WITH_ERRORS', 'PAYMENT_REQUIRED']) {
      const stage = await maileva(t, { [read]: sending(status) })
      t.strictSame(await stage.dispatch('postal', letter(), { checkpointed: 'snd-1' }), {
        outcome: 'accepted',
        response: { id: 'snd-1', status }
      })
      t.strictSame(sentBy(stage), [read])
    }
    const stage = await maileva(t, { [read]: sending('REJECTED') })
    has(t, await stage.dispatch('postal', letter(), { checkpointed: 'snd-1' }), {
      outcome: 'rejected',
      error: { word: 'provider_error', code: 'REJECTED' }
    })
    has(t, await stage.ask('postal', 'lookup', { reference: 'step-1', checkpoint: 'snd-1' }), { found: 'rejected', code: 'REJECTED' })
    t.same(new Set(sentBy(stage)), new Set([read]))
  })

  await t.test('with another draft, where that is gone', async (t) => {
    const stage = await maileva(t, { [read]: missing })
    has(t, await stage.dispatch('postal', letter(), { checkpointed: 'snd-1' }), { outcome: 'accepted' })
    t.strictSame(sentBy(stage), [read, `GET ${recorded}/sendings/snd-1`, ...calls(simple)])
  })

  await t.test('not at all, while nobody can say what became of the draft', async (t) => {
    const stage = await maileva(t, { [read]: { status: 500 } })
    has(t, await stage.ask('postal', 'lookup', { reference: 'step-1', checkpoint: 'snd-1' }), { outcome: 'unavailable' })
    t.not((await stage.dispatch('postal', letter(), { checkpointed: 'snd-1' })).outcome, 'accepted')
    t.same(new Set(sentBy(stage)), new Set([read]))
  })
})

await t.test('before its checkpoint there is nothing to be found, and nobody is asked', async (t) => {
  const stage = await maileva(t)
  t.strictSame(await stage.ask('postal', 'lookup', { reference: 'step-1' }), { found: 'absent' })
  t.equal(stage.vendor.requests.length, 0)
})

await t.test('it is asked after, whether or not events come', async (t) => {
  const stage = await maileva(t, { [read]: sending('PROCESSED'), [`${read}/recipients`]: { json: { recipients: [{ id: 'rec-1' }] } } })
  const { statuses = {}, poll } = stage.provider.manifest.services.postal ?? {}
  t.strictSame(await stage.ask('postal', 'status', { id: 'snd-1' }), { status: 'PROCESSED' })
  t.strictSame(
    ['PENDING', 'ACCEPTED', 'PROCESSED', 'DELETED', 'REJECTED', 'PROCESSED_WITH_ERRORS', 'PAYMENT_REQUIRED'].map((word) =>
      statusOf(statuses, word)
    ),
    ['accepted', 'accepted', 'printed', 'cancelled', 'failed', 'failed', null]
  )
  t.strictSame(poll, { after: 6 * 3600, every: 12 * 3600, until: 60 * 24 * 3600 })
  const gone = await maileva(t, { [read]: missing })
  has(t, await gone.ask('postal', 'status', { id: 'snd-1' }), { outcome: 'rejected', error: { code: 'NOT_FOUND' } })
})

await t.test('what became of a printed letter is asked of its recipient: its main delivery status, unless it came back', async (t) => {
  const ask = async (recipient: JsonObject, status = 'PROCESSED'): Promise<unknown> =>
    (await maileva(t, { [read]: sending(status), [`${read}/recipients`]: { json: { recipients: [recipient] } } })).ask('postal', 'status', {
      id: 'snd-1'
    })
  const statuses = (await maileva(t)).provider.manifest.services.postal?.statuses ?? {}
  for (const [category, status] of [
    ['DELIVERING', 'in_transit'],
    ['FIRST_PRESENTATION', 'in_transit'],
    ['DELIVERED', 'delivered'],
    ['UNDELIVERED', 'returned'],
    ['SOMEWHERE', null]
  ] as const) {
    t.strictSame(await ask({ last_main_delivery_status: { category } }), { status: category })
    t.equal(statusOf(statuses, category), status)
  }
  t.strictSame(
    await ask({
      last_main_delivery_status: { category: 'DELIVERED' },
      undelivered_mail_date: '2026-03-20T09:30:00Z',
      undelivered_mail_reason: 'N02'
    }),
    {
      status: 'UNDELIVERED',
      undeliveredDate: '2026-03-20T09:30:00Z',
      reason: 'The recipient is not known at the address.'
    }
  )
  t.strictSame(await ask({ undelivered_mail_date: '2026-03-20T09:30:00Z', undelivered_mail_reason: 'N99' }), {
    status: 'UNDELIVERED',
    undeliveredDate: '2026-03-20T09:30:00Z',
    reason: 'N99'
  })
  t.strictSame(await ask({ last_main_delivery_status: { category: 'DELIVERED' } }, 'ACCEPTED'), { status: 'ACCEPTED' },
    'nobody asks before it is printed')
})

await t.test('a sender is printed, or returns are handled: of simple letters Maileva does one of the two', async (t) => {
  const returns = { undeliveredMail: 'returns@example.com' }
  const optionsOf = async (mailType: 'SIMPLE' | 'REGISTERED', more: object): Promise<Record<string, unknown>> => {
    const stage = await maileva(t)
    const { outcome } = await stage.dispatch('postal', letter({ mailType }), { settings: { ...settings, ...sender, ...more } })
    t.equal(outcome, 'accepted')
    return (stage.vendor.requests.find(({ path }) => path.endsWith('/sendings'))?.json ?? {}) as Record<string, unknown>
  }
  has(t, await optionsOf('SIMPLE', { printSender: true }), {
    print_sender_address: true,
    envelope_windows_type: 'DOUBLE',
    sender_address_line_1: 'Northwind',
    treat_undelivered_mail: undefined
  })
  has(t, await optionsOf('SIMPLE', returns), {
    treat_undelivered_mail: true,
    notification_treat_undelivered_mail: ['returns@example.com'],
    print_sender_address: undefined,
    sender_address_line_1: undefined
  })
  has(t, await optionsOf('REGISTERED', { ...returns, printSender: true }), {
    returned_mail_scanning: true,
    print_sender_address: true,
    envelope_windows_type: undefined,
    treat_undelivered_mail: undefined
  })
  const stage = await maileva(t)
  has(t, await stage.dispatch('postal', letter(), { settings: { ...settings, ...sender, ...returns, printSender: true } }), {
    outcome: 'rejected',
    error: { code: 'printed_sender' }
  })
  has(t, await stage.dispatch('postal', letter(), { settings: { ...settings, printSender: true } }), {
    outcome: 'rejected',
    error: { code: 'no_sender', message: /^A letter with a printed sender needs/ }
  })
  t.equal(stage.vendor.requests.length, 0)
  t.strictSame(checkSettings(stage.provider.manifest.settings, { ...settings, undeliveredMail: 'nobody' }).map(({ path }) => path), [
    '/undeliveredMail'
  ])
})

await t.test('its events sign in with Basic, and lead to the sending', async (t) => {
  const { provider } = await maileva(t)
  const webhook = provider.manifest.webhooks?.postal
  has(t, webhook?.verify, { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' })
  const event = (more: object = {}) =>
    readEvent(provider, 'postal', Buffer.from(JSON.stringify({
      source: 'maileva',
      event_type: 'ON_STATUS_PROCESSED',
      event_date: '2026-03-14T09:30:00Z',
      resource_type: 'mail/v2/sendings',
      resource_id: 'snd-1',
      resource_location: '/mail/v2/sendings/snd-1',
      ...more
    })))
  t.strictSame(await event(), {
    ok: true,
    reading: { eventId: 'ON_STATUS_PROCESSED:snd-1:2026-03-14T09:30:00Z', remoteId: 'snd-1', type: 'ON_STATUS_PROCESSED' }
  })
  const ofRecipient = {
    resource_type: 'registered_mail/v4/recipients',
    resource_id: 'rec-1',
    resource_location: 'https://api.maileva.com/registered_mail/v4/sendings/snd-1/recipients/rec-1'
  }
  has(t, await event(ofRecipient), { reading: { remoteId: 'snd-1', eventId: 'ON_STATUS_PROCESSED:rec-1:2026-03-14T09:30:00Z' } })
  has(t, await event({ resource_location: null }), { reading: { remoteId: 'snd-1' } })
  has(t, await event({ resource_type: 'invoices/v1/invoices' }), { ok: false })
  t.same(webhook?.events, {
    ON_STATUS_ACCEPTED: 'accepted',
    ON_STATUS_PROCESSED: 'printed',
    ON_STATUS_REJECTED: 'failed',
    ON_STATUS_PROCESSED_WITH_ERRORS: 'failed',
    ON_DEPOSIT_PROOF_RECEIVED: 'mailed',
    ON_GLOBAL_DEPOSIT_PROOF_RECEIVED: 'mailed',
    ON_MAIN_DELIVERY_STATUS_FIRST_PRESENTATION: 'in_transit',
    ON_MAIN_DELIVERY_STATUS_DELIVERED: 'delivered',
    ON_MAIN_DELIVERY_STATUS_UNDELIVERED: 'returned',
    ON_UNDELIVERED_MAIL_RECEIVED: 'returned'
  })
})

await t.test('its settings are a form; its README names every one of them', async (t) => {
  const { provider: { manifest: { settings: form } } } = await maileva(t)
  const readme = await readFile(new URL('../../providers/maileva/README.md', import.meta.url), 'utf8')
  for (const [name, field] of Object.entries(form.properties)) {
    has(t, field, { title: String, description: String }, name)
    contains(t, readme, `\`${name}\``)
  }
  t.same(checkSettings(form, { ...settings, ...sender }), [])
  for (const [name, value] of Object.entries({
    senderCountry: 'France',
    senderStreet: 'A'.repeat(39),
    postageType: 'SLOW',
    webhookUser: 'a:b'
  })) {
    has(t, checkSettings(form, { ...settings, [name]: value }), [{ path: `/${name}` }], name)
  }
})

import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import type { VendorReply } from '../../core/packages/conformance/vendor/vendor.ts'
import { readEvent, statusOf } from '../../core/packages/host/call/read-event.ts'
import { checkSettings } from '../../core/packages/host/settings/settings.ts'
import { createKeySources } from '../../core/packages/host/webhook/keys.ts'
import { verifyWebhook } from '../../core/packages/host/webhook/verify.ts'
import { verifiersOf } from '../../core/packages/host/webhook/webhook.ts'
import type { PostalDispatch } from '../../core/packages/services/postal/index.ts'
import { stateOf } from '../../providers/lob/states.ts'
import { invoice } from '../fixtures/providers/call.ts'
import { contains, has, type Pattern } from '../support/matching.ts'
import { content, describesAll, stageOf } from '../support/provider-stage.ts'

const settings = {
  apiKey: 'live_0123456789abcdef0123456789abcdef',
  senderName: 'Northwind Consulting',
  senderAddress: '210 King St',
  senderCity: 'San Francisco',
  senderState: 'CA',
  senderZip: '94107',
  webhookSecret: 'a-webhook-secret'
}
const sandbox = { sandbox: true, settings: { ...settings, apiKey: 'test_0123456789abcdef0123456789abcdef' } }
const ada = { name: 'Ada Lovelace', address: '185 Berry St\nSuite 6100', city: 'San Francisco', postalCode: '94107', country: 'US' }
const paris = { name: 'Ada Lovelace', address: '10 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const letter = (more: Partial<PostalDispatch['postal']> = {}): PostalDispatch => {
  const { document } = invoice()
  return {
    postal: { recipient: ada, mailType: 'SIMPLE', color: false, duplex: false, ...more },
    document: { ...document, size: content.length },
    metadata: { order: 'A-1' }
  }
}
const made = {
  id: 'ltr_4868c3b754655f90',
  object: 'letter',
  carrier: 'USPS',
  status: 'processed',
  expected_delivery_date: '2026-03-21',
  tracking_number: null,
  tracking_events: []
}
const accepted = { id: made.id, status: 'processed', expectedDeliveryDate: '2026-03-21' }
const created = { status: 200, json: made }
const error = (code: string, status = 422): VendorReply => ({
  status,
  json: { error: { code, message: `It is ${code}.`, status_code: status } }
})

await t.test('a letter goes out as one multipart request with its key', async (t) => {
  const { vendor, dispatch } = await stageOf(t, 'lob', settings)
  vendor.on('POST /v1/letters', created)
  t.strictSame(await dispatch('postal', letter(), { idempotencyKey: 'key-1' }), { outcome: 'accepted', response: accepted })
  const [request] = vendor.requests
  t.equal(vendor.requests.length, 1)
  t.equal(request?.host, 'api.lob.com')
  has(t, request?.headers, {
    'idempotency-key': 'key-1',
    'lob-version': '2020-02-11',
    authorization: `Basic ${Buffer.from(`${settings.apiKey}:`).toString('base64')}`
  })
  t.strictSame(request?.parts?.map(({ name, body }) => [name, body.toString()]), [
    ['to[name]', 'Ada Lovelace'],
    ['to[address_line1]', '185 Berry St'],
    ['to[address_line2]', 'Suite 6100'],
    ['to[address_city]', 'San Francisco'],
    ['to[address_state]', 'CA'],
    ['to[address_zip]', '94107'],
    ['to[address_country]', 'US'],
    ['from[name]', 'Northwind Consulting'],
    ['from[address_line1]', '210 King St'],
    ['from[address_city]', 'San Francisco'],
    ['from[address_state]', 'CA'],
    ['from[address_zip]', '94107'],
    ['from[address_country]', 'US'],
    ['color', 'false'],
    ['double_sided', 'false'],
    ['address_placement', 'insert_blank_page'],
    ['use_type', 'operational'],
    ['metadata[dispatch_reference]', 'step-1'],
    ['file', content.toString()]
  ])
  has(t, request?.parts?.at(-1), { filename: 'F-1.pdf', contentType: 'application/pdf' })
})

await t.test('colour, duplex, mail and settings have their fields', async (t) => {
  const { vendor, dispatch } = await stageOf(t, 'lob', settings)
  vendor.on('POST /v1/letters', created)
  const partsOf = async (more: Partial<PostalDispatch['postal']>, changes = {}): Promise<Record<string, string>> => {
    await dispatch('postal', letter(more), { settings: { ...settings, ...changes } })
    return Object.fromEntries(vendor.requests.at(-1)?.parts?.map(({ name, body }) => [name, body.toString()]) ?? [])
  }
  has(t, await partsOf({ color: true, duplex: true }), { color: 'true', double_sided: 'true', extra_service: undefined })
  has(t, await partsOf({ mailType: 'REGISTERED' }), { extra_service: 'certified' })
  has(t, await partsOf({ mailType: 'REGISTERED', recipient: { ...ada, postalCode: '00901', country: 'PR' } }), {
    extra_service: 'certified'
  })
  has(t, await partsOf({ mailType: 'REGISTERED', recipient: paris }), { extra_service: 'registered' })
  has(t, await partsOf({}, { useType: 'marketing', addressPlacement: 'top_first_page' }), {
    use_type: 'marketing',
    address_placement: 'top_first_page'
  })
})

await t.test('a request may ask for a return receipt, a return envelope, and an address that is kept at Lob', async (t) => {
  const { vendor, dispatch, provider } = await stageOf(t, 'lob', settings)
  const { manifest } = provider
  vendor.on('POST /v1/letters', created)
  const sentWith = async (
    requestSettings: Record<string, string | number | boolean>,
    postal: Partial<PostalDispatch['postal']> = {}
  ): Promise<Record<string, string>> => {
    t.same(checkSettings(manifest.requestSettings, requestSettings), [])
    has(t, await dispatch('postal', letter(postal), { requestSettings }), { outcome: 'accepted' })
    return Object.fromEntries(vendor.requests.at(-1)?.parts?.map(({ name, body }) => [name, body.toString()]) ?? [])
  }
  has(t, await sentWith({ returnReceipt: true }, { mailType: 'REGISTERED' }), { extra_service: 'certified_return_receipt' })
  has(t, await sentWith({ returnReceipt: false }, { mailType: 'REGISTERED' }), { extra_service: 'certified' })
  has(t, await sentWith({ returnEnvelope: true }), { return_envelope: 'true', perforated_page: '1' })
  has(t, await sentWith({ returnEnvelope: true, perforatedPage: 3 }), { return_envelope: 'true', perforated_page: '3' })
  t.notOk('return_envelope' in await sentWith({ perforatedPage: 3 }))
  const kept = await sentWith({ addressId: 'adr_bae820679f3f536b' })
  t.equal(kept['to'], 'adr_bae820679f3f536b')
  t.same(Object.keys(kept).filter((name) => name.startsWith('to[')), [])
  const before = vendor.requests.length
  for (const postal of [{}, { mailType: 'REGISTERED' as const, recipient: paris }]) {
    has(t, await dispatch('postal', letter(postal), { requestSettings: { returnReceipt: true } }), {
      outcome: 'rejected',
      error: { code: 'no_return_receipt' }
    })
  }
  t.equal(vendor.requests.length, before)
  t.throws(
    () => provider.checks.postal?.(letter(), { settings, requestSettings: { returnReceipt: true }, sandbox: false, now: new Date() }),
    { message: /return receipts/ },
    'a validation says it too'
  )
  for (const wrong of [{ addressId: 'env_1' }, { perforatedPage: 0 }, { returnEnvelope: 'env_1' }]) {
    t.equal(checkSettings(manifest.requestSettings, wrong).length, 1, JSON.stringify(wrong))
  }
})

await t.test('what the account lacks is no fault of the key', async (t) => {
  const { vendor, dispatch } = await stageOf(t, 'lob', settings)
  for (const [status, code, word] of [
    [403, 'billing_address_required', 'provider_error'],
    [401, 'payment_method_unverified', 'provider_error'],
    [401, 'email_required', 'provider_error'],
    [403, 'feature_limit_reached', 'provider_error'],
    [401, 'invalid_api_key', 'authentication_error'],
    [403, 'publishable_key_not_allowed', 'authentication_error'],
    [401, 'unauthorized', 'authentication_error']
  ] as const) {
    vendor.on('POST /v1/letters', { status, json: { error: { code, message: code, status_code: status } } })
    has(t, await dispatch('postal', letter()), { outcome: 'rejected', error: { word, code } }, code)
  }
})

await t.test('an address as Lob takes it', async (t) => {
  const { vendor, dispatch, provider } = await stageOf(t, 'lob', settings)
  vendor.on('POST /v1/letters', created)
  const addresses: [string, PostalDispatch['postal']['recipient'], Pattern][] = [
    ['the state stands after the city', { ...ada, city: 'Kansas City, KS' }, { address_city: 'Kansas City', address_state: 'KS' }],
    [
      'without a comma, if the ZIP code agrees',
      { ...ada, city: 'Kansas City KS', postalCode: '66101' },
      { address_city: 'Kansas City', address_state: 'KS' }
    ],
    [
      'nothing after the city moves a territory into a state',
      { ...ada, city: 'San Juan, CA', postalCode: '00901', country: 'PR' },
      { address_city: 'San Juan, CA', address_state: 'PR', address_country: 'US' }
    ],
    [
      'two letters of a city are none',
      { ...ada, city: 'Playa de LA', postalCode: '94107' },
      { address_city: 'Playa de LA', address_state: 'CA' }
    ],
    [
      'a state that is given counts',
      { ...ada, city: 'Portland', state: 'ME', postalCode: '97201' },
      { address_city: 'Portland', address_state: 'ME', address_zip: '97201' }
    ],
    [
      'and is not said twice',
      { ...ada, city: 'Portland, ME', state: 'ME', postalCode: '04101' },
      { address_city: 'Portland', address_state: 'ME' }
    ],
    [
      'abroad it is printed as it is',
      { ...paris, city: 'Toronto', state: 'ON', postalCode: 'M5V 2T6', country: 'CA' },
      { address_city: 'Toronto', address_state: 'ON', address_zip: 'M5V 2T6', address_country: 'CA' }
    ],
    [
      'or follows from the ZIP code',
      { ...ada, city: 'Kansas City', postalCode: '64106-2818' },
      { address_city: 'Kansas City', address_state: 'MO', address_zip: '64106-2818' }
    ],
    [
      'what is no state belongs to the city',
      { ...ada, city: 'Truth or Consequences XX', postalCode: '87901' },
      { address_city: 'Truth or Consequences XX', address_state: 'NM' }
    ],
    [
      'a territory is a state to the USPS',
      { ...ada, city: 'San Juan', postalCode: '00901', country: 'PR' },
      { address_state: 'PR', address_country: 'US' }
    ],
    [
      'other countries keep their own',
      paris,
      { address_line1: '10 rue de la Paix', address_city: 'Paris', address_zip: '75002', address_country: 'FR', address_state: undefined }
    ],
    [
      'where there are no postal codes the city is the region',
      { name: 'Ada', address: '1 Queen\'s Road', city: 'Hong Kong', country: 'HK' },
      { address_city: 'Hong Kong', address_state: 'Hong Kong', address_zip: undefined }
    ],
    [
      'further lines make the second',
      { ...paris, address: ' Bâtiment B \n\nEscalier 2\n10 rue de la Paix' },
      { address_line1: 'Bâtiment B', address_line2: 'Escalier 2, 10 rue de la Paix' }
    ],
    [
      'a company stands beside the name',
      { ...paris, company: 'Analytical Engines' },
      { name: 'Ada Lovelace', company: 'Analytical Engines' }
    ]
  ]
  for (const [name, recipient, expected] of addresses) {
    has(t, await dispatch('postal', letter({ recipient })), { outcome: 'accepted' }, name)
    const to = vendor.requests.at(-1)?.parts?.flatMap(({ name, body }) =>
      name.startsWith('to[') ? [[name.slice(3, -1), body.toString()]] : []
    ) ?? []
    has(t, Object.fromEntries(to), expected, name)
    t.ok(provider.manifest.services.postal?.capabilities.countries?.includes(recipient.country))
  }
})

await t.test('what Lob would not print, or place, is refused before anything is sent', async (t) => {
  const { vendor, dispatch } = await stageOf(t, 'lob', settings)
  const tooLong: [string, PostalDispatch['postal']['recipient'], string][] = [
    ['name', { ...ada, name: 'A'.repeat(41) }, 'Lob prints at most 40 characters of name, and this has 41.'],
    ['company', { ...ada, company: 'A'.repeat(41) }, 'Lob prints at most 40 characters of company, and this has 41.'],
    ['first line', { ...ada, address: 'A'.repeat(65) }, 'Lob prints at most 64 characters of address_line1, and this has 65.'],
    [
      'second line',
      { ...ada, address: `1 A St\n${'A'.repeat(65)}` },
      'Lob prints at most 64 characters of address_line2, and this has 65.'
    ],
    ['line abroad', { ...paris, address: 'A'.repeat(201) }, 'Lob prints at most 200 characters of address_line1, and this has 201.']
  ]
  for (const [name, recipient, message] of tooLong) {
    t.strictSame(await dispatch('postal', letter({ recipient })), {
      outcome: 'rejected',
      error: { word: 'provider_error', code: 'address_length_exceeds_limit', message }
    }, name)
  }
  has(t, await dispatch('postal', letter({ recipient: { ...ada, postalCode: '00101' } })), {
    outcome: 'rejected',
    error: { code: 'unknown_state' }
  })
  t.equal(vendor.requests.length, 0)
})

await t.test('ZIP codes lie in their states', (t) => {
  const zips = {
    '00501': 'NY',
    '02134': 'MA',
    '06390': 'NY',
    '06830': 'CT',
    10001: 'NY',
    20001: 'DC',
    20171: 'VA',
    30301: 'GA',
    34001: 'AA',
    60601: 'IL',
    73301: 'TX',
    75001: 'TX',
    83001: 'WY',
    83414: 'WY',
    88510: 'TX',
    90001: 'CA',
    96201: 'AP',
    96799: 'AS',
    96910: 'GU',
    99501: 'AK'
  }
  for (const [zip, state] of Object.entries(zips)) t.equal(stateOf(zip), state, zip)
  for (const zip of ['00000', '00499', '26900', '42800', '52900', '56800', '']) t.equal(stateOf(zip), undefined, zip)
  t.end()
})

await t.test('the key belongs to the environment: nothing real from a sandbox, nothing pretended outside of it', async (t) => {
  const { vendor, dispatch } = await stageOf(t, 'lob', settings)
  vendor.on('POST /v1/letters', created)
  has(t, await dispatch('postal', letter(), sandbox), { outcome: 'accepted' })
  has(t, await dispatch('postal', letter(), { sandbox: true }), {
    outcome: 'rejected',
    error: { code: 'wrong_environment', message: /sandbox needs a test key/ }
  })
  has(t, await dispatch('postal', letter(), { ...sandbox, sandbox: false }), {
    outcome: 'rejected',
    error: { code: 'wrong_environment', message: /This is a test key/ }
  })
  t.equal(vendor.requests.length, 1)
})

await t.test('Lob\'s codes become words of the service', async (t) => {
  const { vendor, dispatch, provider } = await stageOf(t, 'lob', settings)
  const refusals = ['address_length_exceeds_limit', 'failed_deliverability_strictness', 'invalid_file_dimensions', 'pdf_encrypted']
  for (const [code, word] of Object.entries({
    ...provider.manifest.errors.map,
    ...Object.fromEntries(refusals.map((code) => [code, 'provider_error']))
  })) {
    vendor.on('POST /v1/letters', error(code))
    const outcome = word === 'outcome_unknown' ? 'uncertain' : 'rejected'
    t.strictSame(await dispatch('postal', letter()), { outcome, error: { word, code, message: `It is ${code}.`, host: 'api.lob.com' } })
  }
  const others: [VendorReply, Pattern][] = [
    ...['invalid_api_key', 'unauthorized_token'].map(
      (code): [VendorReply, Pattern] => [error(code, 401), { outcome: 'rejected', error: { word: 'authentication_error', code } }]
    ),
    [error('publishable_key_not_allowed', 403), { outcome: 'rejected', error: { word: 'authentication_error' } }],
    [error('rate_limit_exceeded', 429), { outcome: 'unavailable' }],
    [error('internal_server_error', 500), { outcome: 'uncertain' }],
    [error('service_unavailable', 503), { outcome: 'uncertain' }],
    [{ cut: 'after-body' }, { outcome: 'uncertain' }],
    [{ cut: 'in-reply' }, { outcome: 'uncertain' }],
    [{ json: { id: null } }, { outcome: 'uncertain' }]
  ]
  for (const [script, expected] of others) {
    vendor.on('POST /v1/letters', script)
    has(t, await dispatch('postal', letter()), expected, JSON.stringify(script))
  }
})

await t.test('a letter whose answer was lost is found by our reference, and sent again under the same key', async (t) => {
  const { vendor, dispatch, ask, provider } = await stageOf(t, 'lob', settings)
  t.strictSame(provider.manifest.services.postal?.idempotency, { kind: 'key', ttl: 86_400 })
  vendor.on('POST /v1/letters', [{ cut: 'after-body' }, created])
  vendor.on('GET /v1/letters', [{ json: { object: 'list', data: [made], count: 1 } }, { json: { object: 'list', data: [], count: 0 } }])
  has(t, await dispatch('postal', letter()), { outcome: 'uncertain' })
  t.strictSame(await ask('postal', 'lookup', { reference: 'step-1' }), { found: 'accepted', response: accepted })
  t.strictSame(vendor.requests.at(-1)?.query, { 'metadata[dispatch_reference]': 'step-1', limit: '1' })
  t.strictSame(await ask('postal', 'lookup', { reference: 'step-2' }), { found: 'absent' })
  has(t, await dispatch('postal', letter()), { outcome: 'accepted' })
  t.equal(new Set(vendor.requests.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key'])).size, 1)
})

await t.test('a letter is asked after, and its words are known', async (t) => {
  const { vendor, ask, provider } = await stageOf(t, 'lob', settings)
  const statuses = provider.manifest.services.postal?.statuses ?? {}
  const words: [object, string, string | null][] = [
    [{}, 'processed', 'accepted'],
    [{ status: 'rendered' }, 'rendered', 'accepted'],
    [{ status: undefined, tracking_events: null }, 'processed', 'accepted'],
    [{ status: 'failed', failure_reason: null }, 'failed', 'failed'],
    [{ deleted: true, tracking_events: [{ name: 'Mailed' }] }, 'deleted', 'cancelled'],
    ...([
      ['Mailed', 'mailed', 'mailed'],
      ['In Transit', 'in_transit', 'in_transit'],
      ['In Local Area', 'in_local_area', 'in_transit'],
      ['Processed for Delivery', 'processed_for_delivery', 'in_transit'],
      ['Pickup Available', 'pickup_available', 'in_transit'],
      ['Re-Routed', 're-routed', 'in_transit'],
      [
        'International Exit',
        'international_exit',
        'in_transit'
      ],
      ['Delivered', 'delivered', 'delivered'],
      [
        'Returned to Sender',
        'returned_to_sender',
        'returned'
      ],
      ['Issue', 'issue', null]
    ] as const)
      .map(([name, word, status]): [object, string, string | null] => [{ tracking_events: [{ name: 'Mailed' }, { name }] }, word, status])
  ]
  for (const [more, word, status] of words) {
    vendor.on(`GET /v1/letters/${made.id}`, { json: { ...made, ...more } })
    t.strictSame(await ask('postal', 'status', { id: made.id }), { expectedDeliveryDate: '2026-03-21', status: word })
    t.equal(statusOf(statuses, word), status, word)
  }
  vendor.on(`GET /v1/letters/${made.id}`, {
    json: {
      ...made,
      status: 'failed',
      failure_reason: { failure_reason: 'The file could not be rendered.', remediation: 'Send another.', errors: [] }
    }
  })
  has(t, await ask('postal', 'status', { id: made.id }), { status: 'failed', reason: 'The file could not be rendered. Send another.' })
  vendor.on(`GET /v1/letters/${made.id}`, { json: { ...made, tracking_number: '92071902358909000011275538' } })
  has(t, await ask('postal', 'status', { id: made.id }), { trackingNumber: '92071902358909000011275538' })
})

await t.test('a letter is cancelled while it can be', async (t) => {
  const { vendor, ask } = await stageOf(t, 'lob', settings)
  const cancelled = async (script: VendorReply): Promise<unknown> => {
    vendor.on(`DELETE /v1/letters/${made.id}`, script)
    return await ask('postal', 'cancel', { id: made.id })
  }
  t.strictSame(await cancelled({ json: { id: made.id, deleted: true } }), { status: 'deleted' })
  has(t, await cancelled(error('not_deletable')), { outcome: 'rejected', error: { code: 'not_deletable' } })
  has(t, await cancelled({ json: { id: made.id, deleted: false } }), { outcome: 'rejected', error: { code: 'not_deletable' } })
  has(t, await cancelled({ cut: 'after-body' }), { outcome: 'uncertain' })
})

await t.test('its events', async (t) => {
  const { provider } = await stageOf(t, 'lob', settings)
  const webhook = provider.manifest.webhooks?.postal
  const body = (type: string): Buffer =>
    Buffer.from(
      JSON.stringify({
        id: 'evt_1',
        object: 'event',
        reference_id: made.id,
        event_type: { id: type, resource: 'letters', object: 'event_type' },
        body: made
      })
    )

  await t.test('are read, each known word as a status', async (t) => {
    const words = [
      'created',
      'rendered_pdf',
      'rendered_thumbnails',
      'rejected',
      'failed',
      'deleted',
      ...['', 'certified.'].flatMap((kind) =>
        ['mailed', 'in_transit', 'in_local_area', 'processed_for_delivery', 'pickup_available', 're-routed', 'international_exit',
          'delivered', 'returned_to_sender'].map((word) => `${kind}${word}`)
      )
    ]
    t.same(Object.keys(webhook?.events ?? {}).sort(), words.map((word) => `letter.${word}`).sort())
    for (const type of [
      ...Object.keys(webhook?.events ?? {}),
      'letter.certified.issue',
      'letter.return_envelope.returned_to_sender',
      'letter.viewed'
    ]) {
      t.strictSame(await readEvent(provider, 'postal', body(type)), { ok: true, reading: { eventId: 'evt_1', remoteId: made.id, type } })
    }
    for (const word of ['letter.failed', 'letter.rejected']) t.equal(statusOf(webhook?.events ?? {}, word), 'failed', word)
    for (const word of ['letter.certified.issue', 'letter.return_envelope.returned_to_sender', 'letter.viewed']) {
      t.equal(statusOf(webhook?.events ?? {}, word), null, word)
    }
    has(t, await readEvent(provider, 'postal', Buffer.from('{"id":"evt_1"}')), { ok: false })
  })

  await t.test('are signed over time and body with the secret of the configuration', async (t) => {
    const [verify] = webhook === undefined ? [] : verifiersOf(webhook)
    if (verify?.kind !== 'hmac') throw new Error('Lob signs with HMAC.')
    const at = new Date('2026-03-14T09:30:00Z')
    const sign = (secret: string, time: number): Record<string, string> => ({
      'lob-signature': createHmac('sha256', secret).update(`${time}.`).update(body('letter.mailed')).digest('hex'),
      'lob-signature-timestamp': String(time)
    })
    const keys = createKeySources({
      fetchJson: () => Promise.reject(new Error('Nothing is fetched.')),
      now: () => at,
      onError: () => undefined
    })
    const verdict = async (headers: Record<string, string>): Promise<string> =>
      (await verifyWebhook([verify], { headers, body: body('letter.mailed') }, { settings: () => settings, keys }, at)).verdict
    t.equal(verify.secret, 'webhookSecret')
    t.equal(await verdict(sign(settings.webhookSecret, at.getTime())), 'verified')
    t.equal(await verdict(sign('another', at.getTime())), 'wrong_signature')
    t.equal(await verdict(sign(settings.webhookSecret, at.getTime() - 301_000)), 'wrong_time')
  })
})

await t.test('its settings are a form; its README names every one of them', async (t) => {
  const { provider: { manifest: { settings: form } } } = await stageOf(t, 'lob', settings)
  const readme = await readFile(new URL('../../providers/lob/README.md', import.meta.url), 'utf8')
  for (const [name, field] of Object.entries(form.properties)) {
    has(t, field, { title: String, description: String }, name)
    contains(t, readme, `\`${name}\``)
  }
  t.same(checkSettings(form, settings), [])
  for (const apiKey of ['', 'test_', 'sk_live_1', 'live-1']) {
    t.same([...new Set(checkSettings(form, { ...settings, apiKey }).map(({ path }) => path))], ['/apiKey'], apiKey)
  }
})

await describesAll(t, 'lob')

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { problemsForeseen } from '../../core/packages/host/call/foresee.ts'
import { statusOf } from '../../core/packages/host/call/read-event.ts'
import { checkSettings } from '../../core/packages/host/settings/settings.ts'
import type { SmsDispatch } from '../../core/packages/services/sms/index.ts'
import { contains, has } from '../support/matching.ts'
import { describesAll, stageOf } from '../support/provider-stage.ts'

const accountSid = `AC${'0123456789abcdef'.repeat(2)}`
const testAccountSid = `AC${'fedcba9876543210'.repeat(2)}`
const settings = { accountSid, authToken: 'a'.repeat(32), from: '+15005550100', testAccountSid, testAuthToken: 'b'.repeat(32) }
const messages = (account: string): string => `POST /2010-04-01/Accounts/${account}/Messages.json`
const message: SmsDispatch = {
  sms: { phoneNumber: '+33612345678', message: 'Bonjour à tous', encoding: 'GSM-7', segments: 1 },
  metadata: {}
}
const created = { status: 201, json: { sid: `SM${'1'.repeat(32)}`, status: 'queued', error_code: null } }

await t.test('a message is sent from the sender of the settings', async (t) => {
  const { vendor, dispatch } = await stageOf(t, 'twilio', settings)
  vendor.on(messages(accountSid), created)
  t.strictSame(await dispatch('sms', message), { outcome: 'accepted', response: { id: created.json.sid, status: 'queued' } })
  const [request] = vendor.requests
  t.equal(vendor.requests.length, 1)
  t.equal(request?.host, 'api.twilio.com')
  t.strictSame(request?.form, { To: '+33612345678', From: '+15005550100', Body: 'Bonjour à tous' })
  t.equal(request?.headers['authorization'], `Basic ${Buffer.from(`${accountSid}:${settings.authToken}`).toString('base64')}`)
})

await t.test('the request may name the sender, the settings a messaging service', async (t) => {
  const service = `MG${'2'.repeat(32)}`
  const senders: [sender: string | undefined, from: string, sent: object][] = [
    ['ACME', settings.from, { From: 'ACME' }],
    [undefined, '38383', { From: '38383' }],
    [undefined, 'MGM Studios', { From: 'MGM Studios' }],
    [undefined, service, { MessagingServiceSid: service }],
    ['ACME', service, { From: 'ACME' }]
  ]
  for (const [sender, from, sent] of senders) {
    const { vendor, dispatch, provider } = await stageOf(t, 'twilio', { ...settings, from })
    t.same(checkSettings(provider.manifest.settings, { ...settings, from }), [], from)
    vendor.on(messages(accountSid), created)
    await dispatch('sms', { ...message, sms: { ...message.sms, ...(sender !== undefined && { sender }) } })
    t.strictSame(vendor.requests[0]?.form, { To: '+33612345678', ...sent, Body: 'Bonjour à tous' })
  }
})

await t.test('what begins like a messaging service is no sender of a request either', async (t) => {
  const { provider } = await stageOf(t, 'twilio', settings)
  const found = async (sender: string): Promise<string[]> =>
    (await problemsForeseen(provider, 'sms', { ...message, sms: { ...message.sms, sender } }, {
      settings,
      requestSettings: {},
      sandbox: false,
      now: new Date()
    })).map(({ path, message }) => `${path} ${message}`)
  for (const sender of ['MG123', 'MGab12', 'MG12345678f']) {
    const told = await found(sender)
    t.equal(told.length, 1, sender)
    contains(t, told[0], /^\/sms\/sender .*a messaging service \(MG and 32 hexadecimal digits\) stands in "settings.messagingService"/)
  }
  for (const sender of ['ACME', 'MGM', 'MGA', 'MG4Cars']) t.same(await found(sender), [], sender)
})

await t.test('a request may name its messaging service, with a sender of that, and how long the message is good', async (t) => {
  const [service, requested] = [`MG${'2'.repeat(32)}`, `MG${'3'.repeat(32)}`]
  const sentWith = async (
    requestSettings: Record<string, string | number>,
    { sender, ...more }: { sender?: string, from?: string, validityPeriod?: number } = {}
  ): Promise<unknown> => {
    const { vendor, dispatch, provider } = await stageOf(t, 'twilio', { ...settings, ...more })
    t.same(checkSettings(provider.manifest.requestSettings, requestSettings), [])
    vendor.on(messages(accountSid), created)
    await dispatch('sms', { ...message, sms: { ...message.sms, ...(sender !== undefined && { sender }) } }, { requestSettings })
    return vendor.requests[0]?.form
  }
  const whole = { To: '+33612345678', Body: 'Bonjour à tous' }
  t.strictSame(await sentWith({ messagingService: requested }), { ...whole, MessagingServiceSid: requested })
  t.strictSame(await sentWith({ messagingService: requested }, { from: service }), { ...whole, MessagingServiceSid: requested })
  t.strictSame(await sentWith({ messagingService: requested }, { sender: 'ACME' }), {
    ...whole,
    MessagingServiceSid: requested,
    From: 'ACME'
  })
  t.strictSame(await sentWith({ validityPeriod: 600 }), { ...whole, From: settings.from, ValidityPeriod: '600' })
  t.strictSame(await sentWith({}, { validityPeriod: 3600 }), { ...whole, From: settings.from, ValidityPeriod: '3600' })
  t.strictSame(await sentWith({ validityPeriod: 600 }, { validityPeriod: 3600 }), { ...whole, From: settings.from, ValidityPeriod: '600' })
  const { vendor, dispatch, provider: { manifest } } = await stageOf(t, 'twilio', settings)
  vendor.on(messages(testAccountSid), created)
  await dispatch('sms', message, { sandbox: true, requestSettings: { messagingService: requested } })
  t.strictSame(vendor.requests[0]?.form, { ...whole, From: '+15005550006' }, 'test credentials have no messaging services')
  for (const wrong of [
    { messagingService: 'MG123' },
    { messagingService: 'ACME' },
    { validityPeriod: 0 },
    { validityPeriod: 36001 },
    { validityPeriod: 1.5 }
  ]) t.equal(checkSettings(manifest.requestSettings, wrong).length, 1, JSON.stringify(wrong))
})

await t.test('a message that was made and given up at once is no success', async (t) => {
  for (const [status, outcome] of [
    ['failed', 'rejected'],
    ['undelivered', 'rejected'],
    ['canceled', 'rejected'],
    ['accepted', 'accepted'],
    ['scheduled', 'accepted'],
    ['constructor', 'accepted']
  ] as const) {
    const { vendor, dispatch } = await stageOf(t, 'twilio', settings)
    vendor.on(messages(accountSid), { status: 201, json: { sid: created.json.sid, status, error_code: null } })
    has(t, await dispatch('sms', message), { outcome, ...(outcome === 'rejected' && { error: { word: 'provider_error', code: status } }) },
      status)
  }
  const { vendor, dispatch } = await stageOf(t, 'twilio', settings)
  vendor.on(messages(accountSid), {
    status: 201,
    json: { sid: created.json.sid, status: 'failed', error_code: 30007, error_message: 'Carrier violation' }
  })
  t.strictSame(await dispatch('sms', message), {
    outcome: 'rejected',
    error: { word: 'provider_error', code: '30007', message: 'Carrier violation', host: 'api.twilio.com' }
  })
})

await t.test('it is asked what became of a message', async (t) => {
  const { vendor, ask, provider: { manifest: { services: { sms } } } } = await stageOf(t, 'twilio', settings)
  vendor.on(`GET /2010-04-01/Accounts/${accountSid}/Messages/${created.json.sid}.json`, [
    { json: { sid: created.json.sid, status: 'sent', error_code: null } },
    { json: { sid: created.json.sid, status: 'undelivered', error_code: 30005, error_message: 'Unknown destination handset' } }
  ])
  t.strictSame(await ask('sms', 'status', { id: created.json.sid }), { status: 'sent' })
  t.strictSame(await ask('sms', 'status', { id: created.json.sid }), {
    status: 'undelivered',
    errorCode: 30005,
    errorMessage: 'Unknown destination handset'
  })
  t.strictSame(await ask('sms', 'status', { id: created.json.sid }, { sandbox: true }), { status: 'queued' },
    'what test credentials have made cannot be read')
  t.equal(vendor.requests.length, 2)
  t.strictSame(
    Object.fromEntries(
      ['accepted', 'queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'undelivered', 'canceled', 'received'].map(
        (word) => [word, statusOf(sms?.statuses ?? {}, word)]
      )
    ),
    {
      accepted: 'queued',
      queued: 'queued',
      sending: 'queued',
      sent: 'sent',
      delivered: 'delivered',
      read: 'delivered',
      failed: 'failed',
      undelivered: 'failed',
      canceled: 'failed',
      received: null
    }
  )
})

await t.test('a sandbox dispatch goes out with the test credentials, or not at all', async (t) => {
  const { vendor, dispatch } = await stageOf(t, 'twilio', settings)
  vendor.on(messages(testAccountSid), created)
  has(t, await dispatch('sms', { ...message, sms: { ...message.sms, sender: 'ACME' } }, { sandbox: true }), { outcome: 'accepted' })
  has(t, vendor.requests[0]?.form, { From: '+15005550006' })
  const { accountSid, authToken, from } = settings
  for (const without of [{ accountSid, authToken, from }, { accountSid, authToken, from, testAccountSid }]) {
    has(t, await dispatch('sms', message, { sandbox: true, settings: without }), { outcome: 'rejected', error: { code: 'required' } })
  }
  t.equal(vendor.requests.length, 1)
})

await t.test('Twilio\'s codes become words of the service', async (t) => {
  const { vendor, dispatch, provider } = await stageOf(t, 'twilio', settings)
  const codes = { ...provider.manifest.errors.map, 99999: 'provider_error' }
  for (const [code, word] of Object.entries(codes)) {
    vendor.on(messages(accountSid), {
      status: 400,
      json: { code: Number(code), message: `It is ${code}.`, more_info: `https://www.twilio.com/docs/errors/${code}`, status: 400 }
    })
    const outcome = word === 'provider_unavailable' ? 'unavailable' : 'rejected'
    t.strictSame(await dispatch('sms', message), { outcome, error: { word, code, message: `It is ${code}.`, host: 'api.twilio.com' } })
  }
})

await t.test('what is not surely refused stays uncertain: nothing can be looked up, and no key protects a second try', async (t) => {
  const { vendor, dispatch, provider } = await stageOf(t, 'twilio', settings)
  t.strictSame(provider.manifest.services.sms?.idempotency, { kind: 'none' })
  t.same(provider.manifest.services.sms?.verbs, ['dispatch', 'status'])
  for (const script of [
    { status: 500 },
    { status: 503 },
    { cut: 'after-body' },
    { cut: 'in-reply' },
    { status: 201, json: { sid: null } }
  ] as const) {
    vendor.on(messages(accountSid), script)
    has(t, await dispatch('sms', message), { outcome: 'uncertain', error: { word: 'outcome_unknown' } }, JSON.stringify(script))
  }
  vendor.on(messages(accountSid), { status: 429, json: { code: 20429, message: 'Too many requests', status: 429 } })
  has(t, await dispatch('sms', message), { outcome: 'unavailable' })
  vendor.on(messages(accountSid), { status: 401, json: { code: 20003, message: 'Authenticate', status: 401 } })
  has(t, await dispatch('sms', message), { outcome: 'rejected', error: { word: 'authentication_error' } })
})

await t.test('its settings are a form, and what cannot be an account or a sender is refused', async (t) => {
  const { provider: { manifest } } = await stageOf(t, 'twilio', settings)
  for (const [name, field] of Object.entries(manifest.settings.properties)) has(t, field, { title: String, description: String }, name)
  for (const name of ['accountSid', 'authToken', 'from']) {
    has(t, checkSettings(manifest.settings, { ...settings, [name]: undefined }), [{ path: `/${name}` }])
  }
  for (const from of [
    '',
    '0123456789',
    '+012',
    'A name of twelve',
    'MG12345678901',
    'MG123',
    'MGab12',
    `MG${'2'.repeat(31)}`,
    `MG${'g'.repeat(32)}`
  ]) has(t, checkSettings(manifest.settings, { ...settings, from }), [{ path: '/from' }], from)
  for (const from of ['MGM', 'MG Cars', 'MGA', 'MG4 Cars', '38383']) {
    t.same(checkSettings(manifest.settings, { ...settings, from }), [], from)
  }
  for (const sid of ['', 'AC12', `SK${'0'.repeat(32)}`]) {
    has(t, checkSettings(manifest.settings, { ...settings, accountSid: sid }), [{ path: '/accountSid' }], sid)
  }
})

await t.test('its README names every setting', async (t) => {
  const folder = new URL('../../providers/twilio/', import.meta.url)
  const readme = await readFile(new URL('README.md', folder), 'utf8')
  for (const name of Object.keys(settings)) contains(t, readme, `\`${name}\``)
})

await describesAll(t, 'twilio')

/**
 * How vendors sign, each as its documentation or its own code says, declared in the language of verifiers. The signatures are made here by
 * hand, or come from the vendors' own tests, and never from the code that verifies them.
 */
import type { JsonObject } from '@dispatch/common'
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import t from 'tap'
import { createAuthority } from '../../conformance/vendor/certificates.ts'
import { deriveManifest } from '../manifest/derive.ts'
import { Host, Secret, Type } from '../provider.ts'
import type { BodyForm } from '../webhook/body.ts'
import type { WebhookRequest } from '../webhook/event-request.ts'
import { createKeySources } from '../webhook/keys.ts'
import type { Verifier } from '../webhook/language.ts'
import { verifyWebhook } from '../webhook/verify.ts'

const at = new Date('2026-03-14T09:30:00.000Z')
const seconds = String(at.getTime() / 1000)
const mac = (key: string, text: string | Buffer, digest = 'sha256') => createHmac(digest, key).update(text)
const b64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (claims: object, key: string): string => {
  const text = `${b64url({ alg: 'HS256', typ: 'JWT' })}.${b64url(claims)}`
  return `${text}.${mac(key, text).digest('base64url')}`
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const pem = (key: typeof rsa.publicKey): string => key.export({ type: 'spki', format: 'pem' })

const address = 'https://dispatch.example.com/api/webhooks/sms/providers/acme/endpoint.json'
const query = 'account=0199'
const json = (body: unknown, headers: Record<string, string> = {}): WebhookRequest => ({
  headers,
  body: Buffer.from(JSON.stringify(body)),
  method: 'POST',
  address,
  query
})

type Vendor = {
  verify: Verifier
  form?: BodyForm
  json?: string[]
  settings?: JsonObject
  request: WebhookRequest
  at?: Date
  /** What the vendor publishes, by URL. */
  published?: Record<string, string>
  /** The signature covers this and no more of the event. */
  confirm?: true
}

const snsHost = 'sns.eu-west-3.amazonaws.com'
const notification = {
  Type: 'Notification',
  MessageId: 'm-1',
  TopicArn: 'arn:aws:sns:eu-west-3:1:topic',
  Message: '{"eventType":"Delivery"}',
  Timestamp: '2026-03-14T09:29:50.000Z',
  SignatureVersion: '2',
  SigningCertURL: `https://${snsHost}/SimpleNotificationService-1.pem`
}
const snsText = ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type'].map((name) =>
  `${name}\n${(notification as Record<string, string>)[name]}\n`
).join('')
const multipart = (fields: Record<string, string>): Buffer =>
  Buffer.from(
    `${
      Object.entries(fields).map(([name, value]) => `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')
    }--xyz--\r\n`
  )

const form = (text: string, headers: Record<string, string>): WebhookRequest => ({
  headers,
  body: Buffer.from(text),
  method: 'POST',
  address,
  query
})
const twilioBody = 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212'
const mailgun = { timestamp: seconds, token: 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0', signature: '' }
mailgun.signature = mac('a secret', mailgun.timestamp + mailgun.token).digest('hex')
const dropbox = {
  event: { event_time: seconds, event_type: 'signature_request_signed', event_hash: '' },
  signature_request: { signature_request_id: 's1' }
}
dropbox.event.event_hash = mac('a secret', `${seconds}signature_request_signed`).digest('hex')

const vendors: Record<string, Vendor> = {
  // https://www.twilio.com/docs/usage/security: the example, with its signature.
  'Twilio (its documentation)': {
    form: 'form',
    verify: {
      kind: 'signature',
      signed: ['address', { named: 'sorted' }],
      at: { header: 'X-Twilio-Signature' },
      algorithm: 'hmac-sha1',
      encoding: 'base64',
      key: { secret: 'secret' }
    },
    settings: { secret: '12345' },
    request: {
      ...form(twilioBody, { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' }),
      address: 'https://mycompany.com/myapp.php',
      query: 'foo=1&bar=2'
    }
  },
  // sendgrid-nodejs, packages/eventwebhook: the vector of its tests.
  'SendGrid (its library)': {
    verify: {
      kind: 'signature',
      signed: ['time', 'body'],
      at: { header: 'X-Twilio-Email-Event-Webhook-Signature' },
      algorithm: 'ecdsa-p256-sha256',
      encoding: 'base64',
      key: { setting: 'publicKey' },
      time: { at: { header: 'X-Twilio-Email-Event-Webhook-Timestamp' } }
    },
    settings: {
      publicKey:
        'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA=='
    },
    at: new Date(1588788367_000),
    request: json({ category: 'example_payload', event: 'test_event', message_id: 'message_id' }, {
      'x-twilio-email-event-webhook-signature':
        'MEUCIQCtIHJeH93Y+qpYeWrySphQgpNGNr/U+UyUlBkU6n7RAwIgJTz2C+8a8xonZGi6BpSzoQsbVRamr2nlxFDWYNH2j/0=',
      'x-twilio-email-event-webhook-timestamp': '1588788367'
    })
  },
  // messagebird-nodejs, lib/testdata: "Valid JWT with URL parameters and payload".
  'MessageBird (its library)': {
    verify: {
      kind: 'token',
      at: { header: 'MessageBird-Signature-JWT' },
      algorithm: 'HS256',
      key: { secret: 'secret' },
      claims: {
        iss: [{ text: 'MessageBird' }],
        url_hash: [{ hash: 'sha256', of: ['address'] }],
        payload_hash: [{ hash: 'sha256', of: ['body'] }]
      },
      times: ['nbf', 'exp']
    },
    settings: { secret: '36efdd1aace2e26cd490f0d951138253bef2f7c6d34d18981da781555cc4cebb' },
    at: new Date('2021-07-05T10:00:00Z'),
    request: {
      method: 'POST',
      address: 'https://example.com/path',
      query: 'bar=1&foo=2',
      body: Buffer.from('Hello, World!'),
      headers: {
        'messagebird-signature-jwt':
          'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJNZXNzYWdlQmlyZCIsIm5iZiI6MTYyNTQ3OTIwMCwiZXhwIjoxNjI1NDc' +
          '5MjYwLCJqdGkiOiI5M2U1NTAwNi1hMGU4LTQ1MjYtYTE5MC1mYTVmZjAwZWExMTYiLCJ1cmxfaGFzaCI6IjQxZjA1ZjBkZGQwYTIyYWIyMDlhYzQ2ZjQ3YzQ1NzJkO' +
          'WNlZmEyNTdlZDc0YjI0MDA0YmFlNzUzZWNlNmMyNjAiLCJwYXlsb2FkX2hhc2giOiJkZmZkNjAyMWJiMmJkNWIwYWY2NzYyOTA4MDllYzNhNTMxOTFkZDgxYzdmNzB' +
          'hNGIyODY4OGEzNjIxODI5ODZmIn0._H--TOuYFLpeEH39-rg5E3IHVkjHozBcaKVWPRC5m9I'
      }
    }
  },
  Telnyx: {
    verify: {
      kind: 'signature',
      signed: ['time', { text: '|' }, 'body'],
      at: { header: 'telnyx-signature-ed25519' },
      algorithm: 'ed25519',
      encoding: 'base64',
      key: { setting: 'publicKey' },
      time: { at: { header: 'telnyx-timestamp' } }
    },
    // The 32 bytes of the key, as the portal shows it.
    settings: { publicKey: Buffer.from(ed.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64') },
    request: json({ data: {} }, {
      'telnyx-timestamp': seconds,
      'telnyx-signature-ed25519': sign(null, Buffer.from(`${seconds}|{"data":{}}`), ed.privateKey).toString('base64')
    })
  },
  Lexware: {
    verify: {
      kind: 'signature',
      signed: ['body'],
      at: { header: 'X-Lxo-Signature' },
      algorithm: 'rsa-sha512',
      encoding: 'base64',
      key: { url: 'https://developers.lexware.example/public_key.pub' }
    },
    published: { 'https://developers.lexware.example/public_key.pub': pem(rsa.publicKey) },
    request: json({ eventType: 'invoice.created' }, {
      'x-lxo-signature': sign('sha512', Buffer.from('{"eventType":"invoice.created"}'), rsa.privateKey).toString('base64')
    })
  },
  'Amazon SNS': {
    verify: {
      kind: 'signature',
      signed: [{ named: ['Message', 'MessageId', 'SubscribeURL', 'Subject', 'Timestamp', 'Token', 'TopicArn', 'Type'], separator: '\n' }],
      at: { body: '/Signature' },
      algorithm: 'rsa-sha256',
      encoding: 'base64',
      key: { certificate: { body: '/SigningCertURL' }, hosts: ['sns.{region}.amazonaws.com'] },
      time: { at: { body: '/Timestamp' }, unit: 'iso', tolerance: 3600 }
    },
    settings: { region: 'eu-west-3' },
    published: { [notification.SigningCertURL]: pem(rsa.publicKey) },
    request: json({ ...notification, Signature: sign('sha256', Buffer.from(snsText), rsa.privateKey).toString('base64') })
  },
  Mailgun: {
    verify: {
      kind: 'signature',
      signed: [{ body: '/signature/timestamp' }, { body: '/signature/token' }],
      at: { body: '/signature/signature' },
      algorithm: 'hmac-sha256',
      encoding: 'hex',
      key: { secret: 'secret' },
      time: { at: { body: '/signature/timestamp' } }
    },
    request: json({ signature: mailgun, 'event-data': { event: 'delivered' } })
  },
  'Dropbox Sign': {
    form: 'multipart',
    json: ['/json'],
    verify: {
      kind: 'signature',
      signed: [{ body: '/json/event/event_time' }, { body: '/json/event/event_type' }],
      at: { body: '/json/event/event_hash' },
      algorithm: 'hmac-sha256',
      encoding: 'hex',
      key: { secret: 'secret' }
    },
    request: { ...json({}), body: multipart({ json: JSON.stringify(dropbox) }) }
  },
  Plivo: {
    form: 'form',
    verify: {
      kind: 'signature',
      signed: ['address', { text: '.' }, { named: 'sorted' }, { text: '.' }, { header: 'X-Plivo-Signature-V3-Nonce' }],
      at: { header: 'X-Plivo-Signature-V3', separator: ',' },
      algorithm: 'hmac-sha256',
      encoding: 'base64',
      key: { secret: 'secret' }
    },
    request: form('To=1&From=2', {
      'x-plivo-signature-v3-nonce': 'n1',
      'x-plivo-signature-v3': `AAAA,${mac('a secret', `${address}?${query}.From2To1.n1`).digest('base64')}`
    })
  },
  seven: {
    verify: {
      kind: 'signature',
      signed: ['time', { text: '\n' }, { header: 'X-Nonce' }, { text: '\n' }, 'method', { text: '\n' }, 'address', { text: '\n' }, {
        hash: 'md5',
        of: ['body']
      }],
      at: { header: 'X-Signature' },
      algorithm: 'hmac-sha256',
      encoding: 'hex',
      key: { secret: 'secret' },
      time: { at: { header: 'X-Timestamp' } }
    },
    request: json({ a: 1 }, {
      'x-nonce': 'n1',
      'x-timestamp': seconds,
      'x-signature': mac('a secret', `${seconds}\nn1\nPOST\n${address}?${query}\n${createHash('md5').update('{"a":1}').digest('hex')}`)
        .digest('hex')
    })
  },
  Sinch: {
    verify: {
      kind: 'signature',
      signed: ['body', { text: '.' }, { header: 'x-sinch-webhook-signature-nonce' }, { text: '.' }, 'time'],
      at: { header: 'x-sinch-webhook-signature' },
      algorithm: 'hmac-sha256',
      encoding: 'base64',
      key: { secret: 'secret' },
      time: { at: { header: 'x-sinch-webhook-signature-timestamp' } }
    },
    request: json({ a: 1 }, {
      'x-sinch-webhook-signature-nonce': 'n1',
      'x-sinch-webhook-signature-timestamp': seconds,
      'x-sinch-webhook-signature': mac('a secret', `{"a":1}.n1.${seconds}`).digest('base64')
    })
  },
  Bird: {
    verify: {
      kind: 'signature',
      signed: ['time', { text: '\n' }, 'address', { text: '\n' }, { hash: 'sha256', of: ['body'], encoding: 'bytes' }],
      at: { header: 'messagebird-signature' },
      algorithm: 'hmac-sha256',
      encoding: 'base64',
      key: { secret: 'secret' },
      time: { at: { header: 'messagebird-request-timestamp' } }
    },
    request: json({ a: 1 }, {
      'messagebird-request-timestamp': seconds,
      'messagebird-signature': mac('a secret',
        Buffer.concat([Buffer.from(`${seconds}\n${address}?${query}\n`), createHash('sha256').update('{"a":1}').digest()])).digest('base64')
    })
  },
  B2Brouter: {
    verify: {
      kind: 'signature',
      signed: ['time', { text: '.' }, 'body'],
      at: { header: 'X-B2Brouter-Signature', part: 's' },
      algorithm: 'hmac-sha256',
      encoding: 'hex',
      key: { secret: 'secret' },
      time: { at: { header: 'X-B2Brouter-Signature', part: 't' } }
    },
    request: json({}, { 'x-b2brouter-signature': `t=${seconds},s=${mac('a secret', `${seconds}.{}`).digest('hex')}` })
  },
  BoldSign: {
    verify: {
      kind: 'signature',
      signed: ['time', { text: '.' }, 'body'],
      at: { header: 'X-BoldSign-Signature', part: ['s0', 's1'] },
      algorithm: 'hmac-sha256',
      encoding: 'hex',
      key: { secret: 'secret' },
      time: { at: { header: 'X-BoldSign-Signature', part: 't' } }
    },
    request: json({}, { 'x-boldsign-signature': `t=${seconds}, s0=00, s1=${mac('a secret', `${seconds}.{}`).digest('hex')}` })
  },
  DocuSeal: {
    verify: {
      kind: 'signature',
      signed: ['time', { text: '.' }, 'body'],
      at: { header: 'X-Docuseal-Signature', part: 1, separator: '.' },
      algorithm: 'hmac-sha256',
      encoding: 'hex',
      key: { secret: 'secret' },
      time: { at: { header: 'X-Docuseal-Signature', part: 0, separator: '.' } }
    },
    request: json({}, { 'x-docuseal-signature': `${seconds}.${mac('a secret', `${seconds}.{}`).digest('hex')}` })
  },
  PandaDoc: {
    verify: {
      kind: 'signature',
      signed: ['body'],
      at: { query: 'signature' },
      algorithm: 'hmac-sha256',
      encoding: 'hex',
      key: { secret: 'secret' }
    },
    request: {
      ...json([{ event: 'document_state_changed' }]),
      query: `${query}&signature=${mac('a secret', '[{"event":"document_state_changed"}]').digest('hex')}`
    }
  },
  GatewayAPI: {
    form: 'token',
    verify: { kind: 'token', at: { header: 'X-Gwapi-Signature' }, algorithm: 'HS256', key: { secret: 'secret' } },
    request: json({ id: 1 }, { 'x-gwapi-signature': jwt({ id: 1, msisdn: 4512345678, status: 'DELIVERED' }, 'a secret') })
  },
  PostGrid: {
    form: 'token',
    verify: { kind: 'token', at: 'body', algorithm: 'HS256', key: { secret: 'secret' } },
    request: { ...json({}), body: Buffer.from(jwt({ type: 'letter.updated' }, 'a secret')) }
  },
  Documenso: {
    verify: { kind: 'secret', at: { header: 'X-Documenso-Secret' }, secret: 'secret' },
    request: json({ event: 'DOCUMENT_SIGNED' }, { 'x-documenso-secret': 'a secret' })
  },
  Brevo: {
    verify: { kind: 'secret', at: { header: 'Authorization' }, prefix: 'Bearer ', secret: 'secret' },
    request: json({ event: 'delivered' }, { authorization: 'Bearer a secret' })
  },
  Xero: {
    verify: { kind: 'hmac', header: 'x-xero-signature', algorithm: 'sha256', encoding: 'base64', secret: 'secret' },
    request: json({ events: [] }, { 'x-xero-signature': mac('a secret', '{"events":[]}').digest('base64') })
  },
  PayPal: {
    confirm: true,
    verify: {
      kind: 'signature',
      signed: [{ header: 'PayPal-Transmission-Id' }, { text: '|' }, 'time', { text: '|' }, { setting: 'user' }, { text: '|' }, {
        hash: 'crc32',
        of: ['body'],
        encoding: 'decimal'
      }],
      at: { header: 'PayPal-Transmission-Sig' },
      algorithm: 'rsa-sha256',
      encoding: 'base64',
      key: { certificate: { header: 'PayPal-Cert-Url' }, hosts: ['api.paypal.example'] },
      time: { at: { header: 'PayPal-Transmission-Time' }, unit: 'iso' }
    },
    settings: { user: 'WH-1' },
    published: { 'https://api.paypal.example/v1/notifications/certs/1': pem(rsa.publicKey) },
    request: {
      ...json({}),
      body: Buffer.from('123456789'),
      headers: {
        'paypal-transmission-id': 'tr-1',
        'paypal-transmission-time': '2026-03-14T09:30:00Z',
        'paypal-cert-url': 'https://api.paypal.example/v1/notifications/certs/1',
        // The check value of CRC-32.
        'paypal-transmission-sig': sign('sha256', Buffer.from('tr-1|2026-03-14T09:30:00Z|WH-1|3421780262'), rsa.privateKey).toString(
          'base64'
        )
      }
    }
  }
}

const form0 = Type.Object({
  secret: Type.Optional(Secret()),
  publicKey: Type.Optional(Type.String()),
  user: Type.Optional(Type.String()),
  region: Type.Optional(Host({ title: 'Region' }))
})

async function judge (
  { verify, form, json: texts, settings = { secret: 'a secret' }, at: when = at, published = {} }: Vendor,
  request: WebhookRequest
) {
  const keys = createKeySources({
    fetchJson: (url) => published[url] === undefined ? Promise.reject(new Error(`${url} is not there.`)) : Promise.resolve(published[url]),
    now: () => when,
    onError: () => undefined
  })
  const by = {
    settings: () => settings,
    keys,
    reading: { ...(form !== undefined && { form }), ...(texts !== undefined && { json: texts }) }
  }
  const first = await verifyWebhook([verify], request, by, when)
  if (first.verdict !== 'unknown_key') return first
  await Promise.all(first.sources.map((source) => source.refresh()))
  return await verifyWebhook([verify], request, by, when)
}

for (const [name, vendor] of Object.entries(vendors)) {
  await t.test(name, async (t) => {
    const { verify, form, json: texts, confirm, request } = vendor
    const status = () => Promise.resolve({ status: 'sent' })
    const manifest = deriveManifest({
      code: 'acme',
      name: 'Acme',
      settings: form0,
      services: { sms: { idempotency: { kind: 'none' }, dispatch: status, status, statuses: { sent: 'sent' } } },
      webhooks: { sms: { verify, form, json: texts, confirm, body: Type.Object({}), read: () => ({}), events: {} } }
    }, '1.0.0')
    t.ok(manifest.ok, manifest.ok ? 'it can be declared' : JSON.stringify(manifest.problems))
    t.equal((await judge(vendor, request)).verdict, 'verified', 'it is verified')
    for (const [header, value = ''] of Object.entries(request.headers)) {
      const altered = value.slice(0, -4) + (value.at(-4) === 'A' ? 'B' : 'A') + value.slice(-3)
      t.not((await judge(vendor, { ...request, headers: { ...request.headers, [header]: altered } })).verdict, 'verified',
        `with another ${header}`)
      t.not((await judge(vendor, { ...request, headers: { ...request.headers, [header]: '' } })).verdict, 'verified', `without ${header}`)
    }
    t.not(
      (await judge({
        ...vendor,
        settings: { ...vendor.settings, secret: 'another', publicKey: pem(rsa.publicKey), user: 'other', region: 'x' },
        published: {}
      }, request)).verdict,
      'verified',
      'with the keys of somebody else'
    )
  })
}

await t.test('what covers the body holds for no other body, address or query that it covers', async (t) => {
  const covered = ['SendGrid (its library)', 'MessageBird (its library)', 'Telnyx', 'Lexware', 'seven', 'Sinch', 'Bird', 'B2Brouter',
    'BoldSign', 'DocuSeal', 'PandaDoc', 'Xero', 'PayPal', 'Plivo', 'Twilio (its documentation)']
  for (const name of covered) {
    const vendor = vendors[name]!
    const { request } = vendor
    t.not((await judge(vendor, { ...request, body: Buffer.concat([request.body, Buffer.from('&b=1')]) })).verdict, 'verified',
      `${name}: more`)
    t.not((await judge(vendor, { ...request, body: Buffer.alloc(0) })).verdict, 'verified', `${name}: nothing`)
  }
  for (const name of ['Twilio (its documentation)', 'MessageBird (its library)', 'Plivo', 'seven', 'Bird']) {
    const vendor = vendors[name]!
    t.not((await judge(vendor, { ...vendor.request, query: `${vendor.request.query}&x=1` })).verdict, 'verified', `${name}: another query`)
    t.not((await judge(vendor, { ...vendor.request, address: 'https://evil.example' })).verdict, 'verified', `${name}: another address`)
  }
})

await t.test('what is proved is the same, however it is written: a form in another order, a body with an old signature', async (t) => {
  const proofOf = async (vendor: Vendor, request: WebhookRequest) => {
    const judged = await judge(vendor, request)
    return judged.verdict === 'verified' && judged.proof !== undefined ? Buffer.from(judged.proof).toString() : judged.verdict
  }
  const twilio = vendors['Twilio (its documentation)']!
  const turned = { ...twilio.request, body: Buffer.from(twilioBody.split('&').toReversed().join('&').replace('1234&', '%31234&')) }
  t.equal(await proofOf(twilio, turned), await proofOf(twilio, twilio.request))
  const gun = vendors['Mailgun']!
  const other = json({ signature: mailgun, 'event-data': { event: 'failed' } })
  t.equal(await proofOf(gun, other), await proofOf(gun, gun.request), 'Mailgun signs a token, which counts once')
  t.equal(await proofOf(vendors['Xero']!, vendors['Xero']!.request), 'verified', 'the raw body needs no other proof')
})

await t.test('a certificate, or an address to confirm, is read at declared hosts only', async (t) => {
  const sns = vendors['Amazon SNS']!
  const signature = JSON.parse(Buffer.from(sns.request.body).toString()).Signature as string
  for (const url of [
    'https://sns.eu-west-3.amazonaws.com.evil.example/x.pem',
    'https://evil.example/x.pem',
    'http://sns.eu-west-3.amazonaws.com/x.pem',
    'https://sns.eu-west-3.amazonaws.com:8443/x.pem',
    'https://user@sns.eu-west-3.amazonaws.com/x.pem',
    'https://127.0.0.1/x.pem',
    'file:///etc/passwd',
    'x'
  ]) {
    const vendor = { ...sns, published: { [url]: pem(rsa.publicKey) } }
    t.equal((await judge(vendor, json({ ...notification, SigningCertURL: url, Signature: signature }))).verdict, 'forbidden_host', url)
  }
  t.equal((await judge({ ...sns, settings: {} }, sns.request)).verdict, 'forbidden_host', 'without the region')
})

await t.test('a certificate counts between its dates only, wherever it stands', async (t) => {
  const day = 86_400_000
  const begins = new Date(at.getTime() - day)
  const ends = new Date(at.getTime() + day)
  const { key, cert } = await (await createAuthority()).issueBetween(begins, ends, 'vendor.example')
  const body = Buffer.from('{}')
  const request = { headers: { 'x-signature': sign('sha256', body, { key, dsaEncoding: 'der' }).toString('base64') }, body }
  const signed = {
    kind: 'signature',
    signed: ['body'],
    at: { header: 'X-Signature' },
    algorithm: 'ecdsa-p256-sha256',
    encoding: 'base64'
  } as const
  const url = 'https://api.vendor.example/signing.pem'
  const places: Record<string, Omit<Vendor, 'request'>> = {
    'in a setting': { verify: { ...signed, key: { setting: 'publicKey' } }, settings: { publicKey: cert } },
    'fixed in the adapter': { verify: { ...signed, key: { fixed: cert } } },
    'at the vendor': { verify: { ...signed, key: { url } }, published: { [url]: cert } }
  }
  for (const [place, vendor] of Object.entries(places)) {
    const verdictAt = async (when: Date) => (await judge({ ...vendor, request, at: when }, request)).verdict
    t.equal(await verdictAt(begins), 'verified', `${place}, from its first second on`)
    t.equal(await verdictAt(ends), 'verified', `${place}, up to its last`)
    const outside = place === 'at the vendor' ? 'unknown_key' : 'outdated_certificate'
    t.equal(await verdictAt(new Date(begins.getTime() - 1000)), outside, `${place}, before`)
    t.equal(await verdictAt(new Date(ends.getTime() + 1000)), outside, `${place}, after`)
  }
})

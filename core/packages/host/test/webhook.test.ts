/**
 * What must not compile: every `@ts-expect-error` here is an error of `tsc` as soon as the line below it compiles. The same
 * mistakes, made in plain JavaScript, are refused when the provider is loaded.
 */
import t from 'tap'
import { directory, provide } from '../../../../test/fixtures/providers/folders.ts'
import { has } from '../../../../test/support/matching.ts'
import { readEvent } from '../call/read-event.ts'
import { loadProvider } from '../load/load.ts'
import { deriveManifest } from '../manifest/derive.ts'
import { type Accepted, defineProvider, Secret, Type } from '../provider.ts'

const settings = Type.Object({ token: Secret(), user: Type.Optional(Type.String()) })
const Event = Type.Object({ id: Type.String(), letter: Type.Object({ id: Type.String() }), type: Type.String() })
const facts = {
  code: 'acme',
  name: 'Acme',
  settings,
  services: {
    postal: {
      mailTypes: ['SIMPLE' as const],
      idempotency: { kind: 'none' as const },
      dispatch: (): Promise<Accepted> => Promise.resolve({ id: '1', status: 'sent' })
    }
  }
}
const basic = { kind: 'basic' } as const
const read = () => ({ remoteId: '1', type: 'sent' })
const events = { sent: 'mailed' } as const

const refusedAt = (definition: unknown): string[] => {
  const fit = deriveManifest(definition, '1.0.0')
  return fit.ok ? [] : fit.problems.map(({ path }) => path)
}

await t.test('a webhook becomes plain data of the manifest; what reads its events stays behind', (t) => {
  const fit = deriveManifest(defineProvider({
    ...facts,
    webhooks: {
      postal: {
        verify: {
          kind: 'hmac',
          header: 'x-signature',
          algorithm: 'sha256',
          encoding: 'hex',
          secret: 'token',
          timestamp: { header: 'x-time', tolerance: 60 }
        },
        body: Event,
        read: ({ id, letter, type }) => ({ eventId: id, remoteId: letter.id, type }),
        events: { sent: 'mailed', back: 'returned' },
        acknowledge: 'OK'
      }
    }
  }), '1.0.0')
  has(t, fit, {
    ok: true,
    value: {
      webhooks: {
        postal: {
          verify: { kind: 'hmac', header: 'x-signature', secret: 'token' },
          body: { type: 'object', required: ['id', 'letter', 'type'] },
          events: { sent: 'mailed', back: 'returned' },
          acknowledge: 'OK'
        }
      }
    }
  })
  t.notOk(JSON.stringify(fit).includes('"read"'))
  t.end()
})

await t.test('a webhook without a verifier', (t) => {
  // @ts-expect-error `verify` is missing
  t.same(refusedAt(defineProvider({ ...facts, webhooks: { postal: { body: Event, read, events } } })), ['/webhooks/postal/verify'])
  t.end()
})

await t.test('a verifier that does not exist', (t) => {
  // @ts-expect-error no such kind
  t.same(refusedAt(defineProvider({ ...facts, webhooks: { postal: { verify: { kind: 'none' }, body: Event, read, events } } })), [
    '/webhooks/postal/verify/kind'
  ])
  t.end()
})

await t.test('the forms of Standard Webhooks and of Stripe name a setting that is secret', (t) => {
  const refused = (verify: object) => refusedAt({ ...facts, webhooks: { postal: { verify, body: Event, read, events } } })
  const path = '/webhooks/postal/verify'
  t.same(refused({ kind: 'standard', secret: 'token' }), [])
  t.same(refused({ kind: 'standard', prefix: 'svix', secret: 'token', tolerance: 60 }), [])
  t.same(refused({ kind: 'standard', prefix: 'svix id', secret: 'token' }), [`${path}/prefix`])
  t.same(refused({ kind: 'standard', secret: 'tokn' }), [`${path}/secret`])
  t.same(refused({ kind: 'standard', secret: 'user' }), [`${path}/secret`])
  t.same(refused({ kind: 'stamped', header: 'Stripe-Signature', secret: 'token' }), [])
  t.same(refused({ kind: 'stamped', secret: 'token' }), [`${path}/header`])
  t.same(refused({ kind: 'stamped', header: 'Stripe-Signature', secret: 'token', tolerance: 0 }), [`${path}/tolerance`])
  t.end()
})

await t.test('another algorithm than the one that is safe', (t) => {
  t.same(
    refusedAt(
      defineProvider({
        ...facts,
        webhooks: {
          postal: {
            // @ts-expect-error PS256 only
            verify: { kind: 'jws', header: 'x-jws', algorithm: 'RS256', jwks: 'https://acme.example/keys' },
            body: Event,
            read,
            events
          }
        }
      })
    ),
    ['/webhooks/postal/verify/algorithm']
  )
  t.end()
})

await t.test('a secret that is no setting', (t) => {
  t.same(
    refusedAt(
      defineProvider({
        ...facts,
        webhooks: {
          postal: {
            // @ts-expect-error no such setting
            verify: { kind: 'hmac', header: 'x-mac', algorithm: 'sha256', encoding: 'hex', secret: 'tokn' },
            body: Event,
            read,
            events
          }
        }
      })
    ),
    ['/webhooks/postal/verify/secret']
  )
  t.end()
})

await t.test('a delivery status that the service does not have', (t) => {
  // @ts-expect-error letters are not signed
  t.same(refusedAt(defineProvider({ ...facts, webhooks: { postal: { verify: basic, body: Event, read, events: { sent: 'signed' } } } })), [
    '/webhooks/postal/events/sent'
  ])
  t.end()
})

await t.test('a webhook that nothing reads', (t) => {
  // @ts-expect-error `read` is missing
  t.same(refusedAt(defineProvider({ ...facts, webhooks: { postal: { verify: basic, body: Event, events } } })), ['/webhooks/postal/read'])
  t.end()
})

await t.test('a reader that does not say what the event is about', (t) => {
  // @ts-expect-error `remoteId` is missing
  defineProvider({ ...facts, webhooks: { postal: { verify: basic, body: Event, read: ({ type }) => ({ type }), events } } })
  t.end()
})

await t.test('a reader that looks for what the schema does not have', (t) => {
  defineProvider({
    ...facts,
    // @ts-expect-error no such field
    webhooks: { postal: { verify: basic, body: Event, read: ({ parcel, type }) => ({ remoteId: parcel.id, type }), events } }
  })
  t.end()
})

await t.test('statuses without the verb that asks for them', (t) => {
  // @ts-expect-error `status` is missing
  t.same(refusedAt(defineProvider({ ...facts, services: { postal: { ...facts.services.postal, statuses: { sent: 'mailed' } } } })), [
    '/services/postal/verbs'
  ])
  t.end()
})

const faults: [string, object, string][] = [
  [
    'a webhook of a service that the provider does not offer',
    { esign: { verify: basic, body: Event, read, events: {} } },
    '/webhooks/esign'
  ],
  ['a webhook of a service that has none', { sms: { verify: basic, body: Event, read, events: {} } }, '/webhooks/sms'],
  [
    'keys over plain HTTP',
    {
      postal: { verify: { kind: 'jws', header: 'x-jws', algorithm: 'PS256', jwks: 'http://acme.example/keys' }, body: Event, read, events }
    },
    '/webhooks/postal/verify/jwks'
  ],
  [
    'a secret that would be shown',
    {
      postal: { verify: { kind: 'hmac', header: 'x-mac', algorithm: 'sha256', encoding: 'hex', secret: 'user' }, body: Event, read, events }
    },
    '/webhooks/postal/verify/secret'
  ],
  ['a user without a password', { postal: { verify: { ...basic, user: 'user' }, body: Event, read, events } }, '/webhooks/postal/verify'],
  [
    'confirmation without a way to ask',
    { postal: { verify: basic, body: Event, read, events, confirm: true } },
    '/webhooks/postal/confirm'
  ],
  [
    'confirmation of a word that means nothing',
    { postal: { verify: basic, body: Event, read, events, confirm: ['lost'] } },
    '/webhooks/postal/confirm'
  ],
  ['a schema that is none', { postal: { verify: basic, body: Type.String({ pattern: '(' }), read, events } }, '/webhooks/postal/body'],
  [
    'a schema that claims a name',
    { postal: { verify: basic, body: Type.Object({}, { $id: 'acme' }), read, events } },
    '/webhooks/postal/body/$id'
  ],
  ['a misspelt fact', { postal: { verify: basic, body: Event, read, events, acknowlege: {} } }, '/webhooks/postal/acknowlege']
]
for (const [fault, webhooks, path] of faults) {
  await t.test(`${fault} is refused`, (t) => {
    t.ok(refusedAt({ ...facts, webhooks }).some((at) => at.startsWith(path)), JSON.stringify(refusedAt({ ...facts, webhooks })))
    t.end()
  })
}

await t.test('what a reader returns must be plain, whole and bounded', async (t) => {
  const readers: [string, RegExp | object][] = [
    ['return { remoteId: event.id, type: "sent", at: "now" }', { ok: true, reading: { remoteId: 'l_1', type: 'sent', at: 'now' } }],
    [
      'return { remoteId: event.id, type: "sent", reason: " Wrong\\u0007\\n amount \\u202e" + "x".repeat(600) }',
      { ok: true, reading: { remoteId: 'l_1', type: 'sent', reason: `Wrong amount ${'x'.repeat(486)}…` } }
    ],
    ['return { remoteId: event.id, type: "sent", reason: " \\n" }', { ok: true, reading: { remoteId: 'l_1', type: 'sent' } }],
    ['return { remoteId: event.id, type: 7 }', /\/type/],
    ['return { remoteId: "", type: "sent" }', /\/remoteId/],
    ['return { remoteId: event.id, type: "sent", at: new Map() }', /Not plain/],
    ['return { remoteId: event.id, type: "x".repeat(70000) }', /More than/],
    ['return undefined', /Nothing was returned/],
    ['throw new Error("boom")', /boom/],
    ['return new Promise(() => undefined)', /waits for something else/]
  ]
  const parent = await directory(t)
  for (const [index, [body, expected]] of readers.entries()) {
    const folder = await provide(parent, `acme-${String(index)}`, {
      'index.js': `import { defineProvider, Type } from '@dispatch/core/provider'
export default defineProvider({ code: 'acme', name: 'Acme', settings: Type.Object({}),
  services: { postal: { mailTypes: ['SIMPLE'], idempotency: { kind: 'none' }, dispatch: async () => ({ id: '1', status: 'sent' }) } },
  webhooks: { postal: { verify: { kind: 'basic' }, body: Type.Object({ id: Type.String() }), read (event) { ${body} }, events: {} } } })`
    })
    const installed = await loadProvider(folder, 'digest', 5)
    const read = await readEvent(installed, 'postal', Buffer.from('{"id":"l_1"}'))
    if (expected instanceof RegExp) has(t, read, { ok: false, reason: expected }, body)
    else t.same(read, expected, body)
  }
})

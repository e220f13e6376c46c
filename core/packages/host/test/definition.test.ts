/**
 * What must not compile: every `@ts-expect-error` here is an error of `tsc` (in `npm run check:types`) as soon as the
 * line below it compiles. The same mistakes, made in plain JavaScript, are refused when the provider is loaded.
 */
import t from 'tap'
import { callContext, invoice, nowhere } from '../../../../test/fixtures/providers/call.ts'
import { has } from '../../../../test/support/matching.ts'
import { deriveManifest } from '../manifest/derive.ts'
import { type Accepted, AllowedSenders, defineProvider, Host, Secret, Type } from '../provider.ts'

const settings = Type.Object({ token: Secret(), region: Type.Optional(Type.Enum(['eu', 'us'])), server: Host() })
const sent = (): Promise<Accepted> => Promise.resolve({ id: '1', status: 'sent' })
const none = { kind: 'none' } as const
const facts = { code: 'acme', name: 'Acme', settings }

const refusedAt = (definition: unknown): string[] => {
  const fit = deriveManifest(definition, '1.0.0')
  return fit.ok ? [] : fit.problems.map(({ path }) => path)
}

await t.test('a provider that fits the contract compiles and is accepted', (t) => {
  t.same(refusedAt(defineProvider({
    ...facts,
    docs: 'https://docs.example/',
    requestSettings: Type.Object({ label: Type.Optional(Type.String()) }),
    errors: { map: { 20003: 'authentication_error', 21211: 'provider_error', 503: 'provider_unavailable', lost: 'outcome_unknown' } },
    services: {
      invoicing: {
        documentTypes: ['INVOICE', 'CREDIT'],
        idempotency: { kind: 'key', ttl: 86_400 },
        timeLimit: 30,
        async dispatch ({ invoicing, data, document }, { settings, requestSettings, reference }) {
          const region: 'eu' | 'us' | undefined = settings.region
          const texts: [string, string, string | undefined] = [settings.token, settings.server, requestSettings.label]
          return Promise.resolve({
            id: reference,
            status: 'sent',
            type: invoicing.documentType,
            size: document.size,
            data,
            texts: texts.length,
            region: region ?? null
          })
        }
      }
    }
  })), [])
  t.end()
})

await t.test('a document type that the service does not know', (t) => {
  t.same(
    // @ts-expect-error no such document type
    refusedAt(defineProvider({ ...facts, services: { invoicing: { documentTypes: ['RECEIPT'], idempotency: none, dispatch: sent } } })),
    ['/services/invoicing/capabilities/documentTypes/0']
  )
  t.end()
})

await t.test('a service that does not exist', (t) => {
  // @ts-expect-error no such service
  t.same(refusedAt(defineProvider({ ...facts, services: { fax: { idempotency: none, dispatch: sent } } })), ['/services/fax'])
  t.end()
})

await t.test('a provider of e-mails without the setting that says who may send', (t) => {
  const services = { email: { idempotency: none, dispatch: sent } }
  t.same(refusedAt(defineProvider({ ...facts, services })), ['/settings/properties/allowedSenders'])
  t.same(refusedAt(defineProvider({ ...facts, settings: Type.Object({ allowedSenders: AllowedSenders() }), services })), [])
  t.end()
})

await t.test('an error word that the service does not have', (t) => {
  t.same(
    refusedAt(
      defineProvider({
        ...facts,
        // @ts-expect-error no such word
        errors: { map: { 400: 'bad_request' } },
        services: { invoicing: { documentTypes: ['INVOICE'], idempotency: none, dispatch: sent } }
      })
    ),
    ['/errors/map/400']
  )
  t.end()
})

await t.test('a word of the service that no vendor can mean', (t) => {
  t.same(
    refusedAt(
      defineProvider({
        ...facts,
        // @ts-expect-error only the service itself says this
        errors: { map: { 402: 'insufficient_credits' } },
        services: { invoicing: { documentTypes: ['INVOICE'], idempotency: none, dispatch: sent } }
      })
    ),
    ['/errors/map/402']
  )
  t.end()
})

await t.test('look-up promised, but no verb to do it', (t) => {
  t.same(
    refusedAt(
      defineProvider({
        ...facts,
        // @ts-expect-error `lookup` is missing
        services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'lookup', visibleAfter: 5 }, dispatch: sent } }
      })
    ),
    ['/services/invoicing/verbs']
  )
  t.end()
})

await t.test('an idempotency key without its lifetime', (t) => {
  t.same(
    refusedAt(
      // @ts-expect-error `ttl` is missing
      defineProvider({ ...facts, services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'key' }, dispatch: sent } } })
    ),
    ['/services/invoicing/idempotency/ttl']
  )
  t.end()
})

await t.test('no dispatch', (t) => {
  // @ts-expect-error `dispatch` is missing
  t.same(refusedAt(defineProvider({ ...facts, services: { invoicing: { documentTypes: ['INVOICE'], idempotency: none } } })), [
    '/services/invoicing/verbs'
  ])
  t.end()
})

await t.test('a misspelt verb', (t) => {
  t.same(
    refusedAt(
      // @ts-expect-error no such verb
      defineProvider({ ...facts, services: { invoicing: { documentTypes: ['INVOICE'], idempotency: none, dispatch: sent, lookUp: sent } } })
    ),
    ['/services/invoicing/verbs/1']
  )
  t.end()
})

await t.test('a misspelt fact', (t) => {
  t.same(
    refusedAt(
      // @ts-expect-error no such fact
      defineProvider({ ...facts, service: {}, services: { invoicing: { documentTypes: ['INVOICE'], idempotency: none, dispatch: sent } } })
    ),
    ['/service']
  )
  t.end()
})

await t.test('settings that are no object', (t) => {
  t.same(
    refusedAt(
      defineProvider({
        ...facts,
        // @ts-expect-error not a form
        settings: Type.String(),
        services: { invoicing: { documentTypes: ['INVOICE'], idempotency: none, dispatch: sent } }
      })
    ),
    ['/settings/properties', '/settings/type']
  )
  t.end()
})

await t.test('an unknown setting is undefined at run time and does not compile', async (t) => {
  const { services: { invoicing } } = defineProvider({
    ...facts,
    services: {
      invoicing: {
        documentTypes: ['INVOICE'],
        idempotency: none,
        dispatch (_request, context) {
          // @ts-expect-error no such setting
          t.equal(context.settings.nope, undefined)
          // @ts-expect-error no request settings were declared
          t.equal(context.requestSettings.label, undefined)
          // @ts-expect-error the signs of a type are checked too
          const token: number = context.settings.token
          t.type(token, 'string')
          return sent()
        }
      }
    }
  })
  const settings = { token: 'secret', server: 'acme.example' }
  await invoicing?.dispatch(invoice(), { ...callContext(), ...nowhere(), settings, requestSettings: {}, wait: () => Promise.resolve() })
})

await t.test('a document where its bytes cannot stand', (t) => {
  const reply = Type.Null()
  defineProvider({
    ...facts,
    services: {
      invoicing: {
        documentTypes: ['INVOICE'],
        idempotency: none,
        async dispatch ({ document, metadata: texts }, { http }) {
          await http.post('https://acme.example', { json: { file: document }, query: { texts } }, reply)
          await http.post('https://acme.example', { form: { texts, sizes: [document.size] } }, reply)
          await http.post('https://acme.example', { form: { file: document, files: [{ ...document, filename: 'x' }] } }, reply)
          // @ts-expect-error no document in a query
          await http.get('https://acme.example', { query: { file: document } }, reply)
          // @ts-expect-error nor in a header
          await http.get('https://acme.example', { headers: { file: document } }, reply)
          return sent()
        }
      }
    }
  })
  t.end()
})

await t.test('an answer without the vendor\'s id', (t) => {
  defineProvider({
    ...facts,
    // @ts-expect-error `id` is missing
    services: { invoicing: { documentTypes: ['INVOICE'], idempotency: none, dispatch: () => Promise.resolve({ status: 'sent' }) } }
  })
  t.end()
})

await t.test('an answer that is not plain data', (t) => {
  defineProvider({
    ...facts,
    services: {
      invoicing: {
        documentTypes: ['INVOICE'],
        idempotency: none,
        // @ts-expect-error a date is not JSON
        dispatch: () => Promise.resolve({ id: '1', status: 'sent', at: new Date() })
      }
    }
  })
  t.end()
})

await t.test('a provider with a document of its own', async (t) => {
  const offer = { documentTypes: ['INVOICE' as const], idempotency: none, dispatch: sent }

  await t.test('declares it by the verb that fetches it', (t) => {
    const definition = defineProvider({
      ...facts,
      services: { invoicing: { ...offer, document: () => Promise.resolve(invoice().document) } }
    })
    const fit = deriveManifest(definition, '1.0.0')
    has(t, fit, { value: { services: { invoicing: { capabilities: { document: 'theirs' }, verbs: ['dispatch', 'document'] } } } })
    t.end()
  })

  await t.test('cannot promise it without the verb', (t) => {
    // @ts-expect-error the verb is missing
    t.same(refusedAt(defineProvider({ ...facts, services: { invoicing: { ...offer, document: 'theirs' } } })), [
      '/services/invoicing/verbs'
    ])
    t.end()
  })

  await t.test('is "ours" without one', (t) => {
    const fit = deriveManifest(defineProvider({ ...facts, services: { invoicing: offer } }), '1.0.0')
    t.notOk(fit.ok && fit.value.services.invoicing?.capabilities.document)
    t.end()
  })
})

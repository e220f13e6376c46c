import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { deliveryMarksOf, deliveryServices, deliveryStatuses, deliveryStatusesOf } from '../../../core/packages/contract/delivery.ts'
import { type CallContext, callDispatch, type Outcome } from '../../../core/packages/host/call/dispatch.ts'
import { invoke } from '../../../core/packages/host/call/invoke.ts'
import { createHost } from '../../../core/packages/host/host.ts'
import { checkSettings } from '../../../core/packages/host/settings/settings.ts'
import type { InvoicingDispatch } from '../../../core/packages/services/invoicing/index.ts'
import simulator from '../../../providers/simulator/index.ts'
import { callContext, invoice, memoryLog, memoryState, nowhere } from '../../fixtures/providers/call.ts'
import { has } from '../../support/matching.ts'

const directory = new URL('../../../providers', import.meta.url).pathname
const host = await createHost({ directories: [directory], log: memoryLog() })
const provider = host.find('simulator')
if (provider === undefined) throw new Error(JSON.stringify(host.entries()))

/** A call for a company; `slow` is over at once unless the settings say otherwise. */
const contextOf = (reference: string, company = memoryState(), more: Partial<CallContext> = {}): CallContext =>
  callContext({ reference, state: company, settings: { slowSeconds: 0 }, ...more })

const dispatch = (request: InvoicingDispatch, context: CallContext): Promise<Outcome> =>
  callDispatch(provider, 'invoicing', request, context)

const lookup = (context: CallContext): unknown =>
  provider.verbs.invoicing?.lookup?.({ reference: context.reference }, { ...context, ...nowhere(), wait: () => Promise.resolve() })

const numbered = (number: unknown, more: Partial<InvoicingDispatch> = {}): InvoicingDispatch =>
  invoice({ ...more, data: { number: number as string } })
const saying = (word: string): InvoicingDispatch => invoice({ invoicing: { documentType: 'INVOICE', reference: word } })

const sentBy = (company: ReturnType<typeof memoryState>): string[] => [...company.entries.keys()].filter((key) => key.startsWith('outbox:'))

await t.test('it is found in its directory, with what it can do', (t) => {
  has(t, provider.manifest, {
    code: 'simulator',
    services: {
      invoicing: {
        capabilities: { documentTypes: ['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'], sendByEmail: true, requires: ['/number'] },
        idempotency: { kind: 'lookup', visibleAfter: 0 },
        verbs: ['dispatch', 'lookup', 'status', 'say']
      }
    }
  })
  t.equal(simulator.code, provider.code)
  t.end()
})

await t.test('it needs no settings, and every one that it has is a titled field of a form', (t) => {
  const { settings, requestSettings } = provider.manifest
  t.strictSame(checkSettings(settings, {}), [])
  t.strictSame(checkSettings(requestSettings, {}), [])
  for (const field of [...Object.values(settings.properties), ...Object.values(requestSettings.properties)]) {
    has(t, field, { title: String, description: String })
  }
  has(t, checkSettings(requestSettings, { includePaymentCollectionLinks: true }), [{
    message: /did you mean "includePaymentCollectionLink"/
  }])
  t.end()
})

await t.test('an accepted document is answered for and stands in the outbox', async (t) => {
  const company = memoryState()
  const request = invoice({ metadata: { order: 'A-1' } })
  const response = {
    id: 'sim-step-1',
    status: 'created',
    url: 'https://simulator.invalid/documents/sim-step-1',
    documentType: 'INVOICE',
    number: 'F-1'
  }
  t.strictSame(await dispatch(request, contextOf('step-1', company, { sandbox: true, requestSettings: { paymentCollectionLabel: 'F-1' } })),
    { outcome: 'accepted', response })
  t.strictSame(company.entries.get('outbox:step-1'), {
    at: '2026-03-14T09:30:00.000Z',
    reference: 'step-1',
    sandbox: true,
    service: 'invoicing',
    ...request,
    requestSettings: { paymentCollectionLabel: 'F-1' },
    response
  })
})

await t.test('with sendByEmail the document is sent, not only created', async (t) => {
  has(t, await dispatch(invoice({ invoicing: { documentType: 'QUOTE', sendByEmail: true } }), contextOf('1')), {
    response: { status: 'sent', documentType: 'QUOTE' }
  })
})

for (const eInvoiceFormat of ['FACTUR_X', 'UBL', 'CII'] as const) {
  await t.test(`an e-invoice as ${eInvoiceFormat} is taken once`, async (t) => {
    const company = memoryState()
    const request = invoice({ invoicing: { documentType: 'E_INVOICE', eInvoiceFormat } })
    has(t, await dispatch(request, contextOf('1', company)), {
      outcome: 'accepted',
      response: { documentType: 'E_INVOICE', number: 'F-1' }
    })
    has(t, await dispatch(request, contextOf('2', company)), { outcome: 'rejected', error: { code: 'duplicate_number' } })
    has(t, company.entries.get('outbox:1'), { invoicing: { eInvoiceFormat } })
  })
}

const payments: [string, CallContext['requestSettings'], string | undefined][] = [
  ['no payment link unless asked for', { paymentCollectionLabel: 'Rent' }, undefined],
  ['no payment link when refused', { includePaymentCollectionLink: false }, undefined],
  ['a payment link', { includePaymentCollectionLink: true }, 'https://simulator.invalid/pay/sim-1?'],
  [
    'a payment link with beneficiary and label',
    { includePaymentCollectionLink: true, paymentCollectionBeneficiaryName: 'Ada & Co', paymentCollectionLabel: 'Rent 3/26' },
    'https://simulator.invalid/pay/sim-1?beneficiary=Ada+%26+Co&label=Rent+3%2F26'
  ]
]
for (const [name, requestSettings, paymentUrl] of payments) {
  await t.test(name, async (t) => {
    const outcome = await dispatch(invoice(), contextOf('1', memoryState(), { requestSettings }))
    t.equal(outcome.outcome === 'accepted' ? outcome.response['paymentUrl'] : outcome, paymentUrl)
  })
}

const places: Record<string, (word: string) => InvoicingDispatch> = {
  'the reference': saying,
  'the customer\'s e-mail address': (word) => invoice({ data: { number: 1, customer: { email: `${word}@example.com` } } }),
  'the customer\'s name': (word) => invoice({ data: { number: 1, customer: { name: word.toUpperCase() } } })
}

for (const [place, saying] of Object.entries(places)) {
  await t.test(`magic words in ${place}`, async (t: Test) => {
    await t.test('reject: refused, nothing is sent', async (t) => {
      const company = memoryState()
      has(t, await dispatch(saying('reject'), contextOf('1', company)), {
        outcome: 'rejected',
        error: { word: 'provider_error', code: 'declined' }
      })
      t.same(company.entries.size, 0)
    })

    await t.test('unavailable: twice for each step, then accepted', async (t) => {
      const company = memoryState()
      const attempts = async (step: string): Promise<string[]> => {
        const context = contextOf(step, company)
        return [
          await dispatch(saying('unavailable'), context),
          await dispatch(saying('unavailable'), context),
          await dispatch(saying('unavailable'), context)
        ].map(({ outcome }) => outcome)
      }
      t.same(await attempts('1'), ['unavailable', 'unavailable', 'accepted'])
      t.same(await attempts('2'), ['unavailable', 'unavailable', 'rejected'], 'the number is the first step\'s')
      t.same(sentBy(company), ['outbox:1'])
    })

    await t.test('uncertain: accepted, but the answer is lost; a look-up finds it', async (t) => {
      const context = contextOf('1')
      has(t, await dispatch(saying('uncertain'), context), { outcome: 'uncertain', error: { word: 'outcome_unknown' } })
      has(t, await lookup(context), { found: 'accepted', response: { id: 'sim-1', status: 'created' } })
    })

    await t.test('slow: waits before it accepts, and can be given up while it waits', async (t) => {
      const company = memoryState()
      has(t, await dispatch(saying('slow'), contextOf('1', company)), { outcome: 'accepted' })
      const given = await callDispatch(provider, 'invoicing', saying('slow'), contextOf('2', memoryState(), { settings: {} }), {
        limit: 10
      })
      has(t, given, { outcome: 'unavailable' })
    })
  })
}

await t.test('slow takes five seconds unless the settings say otherwise', async (t) => {
  const waits: number[] = []
  const wait = (seconds: number): Promise<void> => {
    waits.push(seconds)
    return Promise.resolve()
  }
  for (const settings of [{}, { slowSeconds: 0.5 }]) {
    await provider.verbs.invoicing?.dispatch?.(saying('slow'), { ...contextOf('1'), ...nowhere(), settings, wait })
  }
  t.same(waits, [5, 0.5])
})

await t.test('a word inside another word is no magic word', async (t) => {
  for (const word of ['rejected', 'do not reject', 'reject@', '']) {
    const { outcome } = await dispatch(saying(word), contextOf('1'))
    t.equal(outcome, word === 'reject@' ? 'rejected' : 'accepted', word)
  }
})

await t.test('the reference counts before the e-mail address, and that before the name', async (t) => {
  const customer = { email: 'unavailable@example.com', name: 'slow' }
  has(t, await dispatch({ ...saying('reject'), data: { number: 1, customer } }, contextOf('1')), { outcome: 'rejected' })
  has(t, await dispatch({ ...saying('plain'), data: { number: 1, customer } }, contextOf('1')), { outcome: 'unavailable' })
})

await t.test('document numbers', async (t) => {
  const duplicate = {
    outcome: 'rejected',
    error: { word: 'provider_error', code: 'duplicate_number', message: 'The number "F-1" of a document of type INVOICE is taken.' }
  }

  await t.test('a number is accepted once for a company and document type', async (t) => {
    const company = memoryState()
    has(t, await dispatch(numbered('F-1'), contextOf('1', company)), { outcome: 'accepted' })
    t.strictSame(await dispatch(numbered('F-1'), contextOf('2', company)), duplicate)
    has(t, await dispatch(numbered('F-2'), contextOf('3', company)), { outcome: 'accepted' })
    has(t, await dispatch(numbered('F-1', { invoicing: { documentType: 'CREDIT' } }), contextOf('4', company)), { outcome: 'accepted' })
    has(t, await dispatch(numbered('F-1'), contextOf('5', memoryState())), { outcome: 'accepted' }, 'another company')
    t.same(sentBy(company), ['outbox:1', 'outbox:3', 'outbox:4'])
  })

  await t.test('of many at once, exactly one gets the number', async (t) => {
    const company = memoryState()
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, step) => dispatch(numbered('F-1'), contextOf(`${step}`, company))))
    t.equal(outcomes.filter(({ outcome }) => outcome === 'accepted').length, 1)
    t.equal(sentBy(company).length, 1)
  })

  await t.test('a step that comes back with its own number is no duplicate: the same answer, sent once', async (t) => {
    const company = memoryState()
    const [first, again] = [
      await dispatch(numbered('F-1'), contextOf('1', company)),
      await dispatch(numbered('F-1'), contextOf('1', company))
    ]
    t.strictSame(again, first)
    t.same(sentBy(company), ['outbox:1'])
  })

  await t.test('a step that came back after its answer was lost hears the answer', async (t) => {
    const context = contextOf('1')
    has(t, await dispatch(saying('uncertain'), context), { outcome: 'uncertain' })
    has(t, await dispatch(saying('uncertain'), context), { outcome: 'accepted' })
  })

  await t.test('a step whose claim was made, and nothing more, goes on with it', async (t) => {
    const company = memoryState()
    await company.put('number:INVOICE:F-1', '1')
    has(t, await lookup(contextOf('1', company)), { found: 'absent' })
    has(t, await dispatch(numbered('F-1'), contextOf('1', company)), { outcome: 'accepted' })
  })

  await t.test('what was not accepted takes no number', async (t) => {
    const company = memoryState()
    for (const word of ['reject', 'unavailable']) await dispatch(saying(word), contextOf(word, company))
    has(t, await dispatch(numbered('F-1'), contextOf('1', company)), { outcome: 'accepted' })
  })

  await t.test('an uncertain one has its number', async (t) => {
    const company = memoryState()
    await dispatch(saying('uncertain'), contextOf('1', company))
    t.strictSame(await dispatch(numbered('F-1'), contextOf('2', company)), duplicate)
  })

  await t.test('a document without a number is refused', async (t) => {
    for (const number of [undefined, null, '', true, {}]) {
      has(t, await dispatch(numbered(number), contextOf('1')), {
        outcome: 'rejected',
        error: { word: 'provider_error', code: 'missing_number' }
      })
    }
    has(t, await dispatch(numbered(0), contextOf('1')), { outcome: 'accepted', response: { number: '0' } })
  })
})

await t.test('a look-up of what never came finds nothing', async (t) => {
  t.strictSame(await lookup(contextOf('1')), { found: 'absent' })
})

await t.test('what becomes of what was accepted', async (t) => {
  const company = memoryState()
  const document = invoice().document
  const signer = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', order: 1 }
  const letter = {
    recipient: { name: 'Ada', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' },
    mailType: 'SIMPLE' as const,
    color: false,
    duplex: false
  }
  await callDispatch(provider, 'esign', {
    esign: { signers: [signer], signatureType: 'SIMPLE', expiresInDays: 30 },
    document,
    signatures: [],
    data: {},
    metadata: {}
  }, contextOf('contract', company))
  await callDispatch(provider, 'postal', { postal: letter, document, metadata: {} }, contextOf('letter', company))
  const ask = async (service: 'esign' | 'postal', verb: 'status' | 'cancel' | 'document', id: string): Promise<unknown> => {
    const called = await invoke(provider, service, verb, { id }, contextOf('', company))
    return 'returned' in called ? called.returned : called.error.code
  }
  const tell = (id: string, word: string): Promise<void> => company.put(`delivery:${id}`, word)

  await t.test('is what was answered first, until an event says otherwise', async (t) => {
    t.strictSame([await ask('esign', 'status', 'sim-contract'), await ask('postal', 'status', 'sim-letter')], [
      { status: 'started' },
      { status: 'accepted' }
    ])
    await tell('sim-letter', 'printed')
    t.strictSame(await ask('postal', 'status', 'sim-letter'), { status: 'printed' })
    t.equal(await ask('esign', 'status', 'sim-nothing'), 'not_found')
  })

  await t.test('the signed copy is there once everybody has signed', async (t) => {
    for (const word of ['started', 'signed', 'declined']) {
      await tell('sim-contract', word)
      t.equal(await ask('esign', 'document', 'sim-contract'), 'not_completed', word)
    }
    await tell('sim-contract', 'completed')
    t.strictSame(await ask('esign', 'document', 'sim-contract'), document)
  })

  const cancelling: ['esign' | 'postal', string[], string[]][] = [
    ['esign', ['started', 'viewed', 'signed', 'cancelled'], ['completed', 'declined', 'expired']],
    ['postal', ['accepted', 'printed', 'cancelled'], ['mailed', 'in_transit', 'delivered', 'returned', 'failed']]
  ]
  for (const [service, early, late] of cancelling) {
    await t.test(`${service} can be cancelled until it is too late`, async (t) => {
      const id = service === 'esign' ? 'sim-contract' : 'sim-letter'
      for (const word of late) {
        await tell(id, word)
        t.equal(await ask(service, 'cancel', id), 'too_late', word)
        t.strictSame(await ask(service, 'status', id), { status: word })
      }
      for (const word of early) {
        await tell(id, word)
        t.strictSame(await ask(service, 'cancel', id), { status: 'cancelled' }, word)
        t.strictSame(await ask(service, 'status', id), { status: 'cancelled' })
      }
    })
  }
})

await t.test('it has a word for every delivery status, and no key of which anybody could have the other half', (t) => {
  const { services, webhooks } = provider.manifest
  for (const service of deliveryServices) {
    const words = Object.fromEntries(deliveryStatusesOf(service).map((status) => [status, status]))
    t.strictSame(services[service]?.statuses, words, service)
    const marks = Object.fromEntries(deliveryMarksOf(service).map((mark) => [mark, mark]))
    const isTold = ['esign', 'postal', 'email'].includes(service)
    t.strictSame(Object(webhooks)[service]?.events, isTold ? { ...words, ...marks } : undefined, service)
  }
  t.strictSame(webhooks?.esign?.verify, { kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256', jwks: { keys: [] } })
  t.strictSame(webhooks?.postal?.verify, { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' })
  t.end()
})

await t.test('its README names every service, magic word, setting and status', async (t) => {
  const readme = await readFile(`${directory}/simulator/README.md`, 'utf8')
  const { services, settings, requestSettings } = provider.manifest
  const numbers = ['+15005550001', '+15005550002', '+15005550003', '+15005550004']
  const names = [
    ...Object.keys(services),
    'reject',
    'unavailable',
    'uncertain',
    'slow',
    ...numbers,
    ...Object.keys(settings.properties),
    ...Object.keys(requestSettings.properties),
    ...deliveryStatuses
  ]
  for (const name of names) t.ok(readme.includes(`\`${name}\``), name)
})

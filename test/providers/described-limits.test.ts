import fc from 'fast-check'
import { realpath } from 'node:fs/promises'
import t from 'tap'
import { currencies } from '../../core/packages/common/currencies.ts'
import type { JsonObject } from '../../core/packages/common/json.ts'
import { isRecord } from '../../core/packages/common/records.ts'
import { compileJsonSchema } from '../../core/packages/common/schema.ts'
import type { DispatchFixture } from '../../core/packages/conformance/fixtures/fixture.ts'
import { type Named, readFixtures } from '../../core/packages/conformance/fixtures/fixtures.ts'
import { now } from '../../core/packages/conformance/run/clock.ts'
import { prepareSend } from '../../core/packages/conformance/run/prepare.ts'
import { run } from '../../core/packages/conformance/run/run.ts'
import { createVendorDouble } from '../../core/packages/conformance/run/vendor-double.ts'
import { problemsForeseen } from '../../core/packages/host/call/foresee.ts'
import { capabilitiesOf } from '../../core/packages/host/load/capabilities.ts'
import { type InstalledProvider, loadProvider } from '../../core/packages/host/load/load.ts'
import type { ManifestLimits } from '../../core/packages/host/manifest/limits.ts'
import type { Manifest } from '../../core/packages/host/manifest/manifest.ts'
import { splitSecrets } from '../../core/packages/host/settings/settings.ts'
import { checkInvoice } from '../../core/packages/services/invoicing/invoice.ts'
import { services } from '../../core/packages/services/lists.ts'
import type { ProvidedName } from '../../core/packages/services/names.ts'
import type { AnyProvidedService } from '../../core/packages/services/service.ts'
import { absent, enumerationOf, vendorApi } from '../support/vendor-api.ts'
import { described } from '../support/vendor-apis.ts'

// Hundreds of dispatches to a vendor over TLS (milliseconds).
t.setTimeout(300_000)

/** Lengths around those that descriptions name. */
const lengths = [1, 10, 30, 40, 50, 64, 70, 100, 140, 200, 255, 256, 300, 500, 512, 1500, 1600, 5000].flatMap(
  (length) => [length, length + 1]
)
const countries = 'AF AM AQ AX BL CI CS GB FR DE JP PR PS SS TL US UM VA XK ZW'.split(' ')
const odd = [
  '2027-05-05T23:00:00+01:00',
  'müller@example.de',
  'ada@exämple.de',
  '"Ada <3" <ada@example.com>',
  'Côte d’Ivoire',
  'cus_9',
  'Ontario',
  '00901',
  '94107 1234',
  'fr-CH',
  'a\nb'
]

const text = fc.oneof(
  fc.tuple(fc.constantFrom('x', 'é', '🐎', ' x'), fc.constantFrom(...lengths)).map(([unit, length]) => unit.repeat(length)),
  fc.constantFrom(...currencies),
  fc.constantFrom(...countries),
  fc.constantFrom(...odd)
)

const mailbox = fc.tuple(fc.constantFrom('x', 'é', '🐎'), fc.constantFrom(...lengths), fc.constantFrom('ada@example.com', 'ada@exämple.de'))
  .map(([unit, length, address]) => `${unit.repeat(length)} <${address}>`)

/** Where texts may stand, beside those of a fixture. */
const places: Readonly<Record<string, readonly string[]>> = {
  invoicing: [
    ...['customerId', 'reference', 'paymentTerms', 'dueDate'].map((name) => `invoicing/${name}`),
    ...['reference', 'orderReference', 'buyerReference', 'language', 'currency', 'notes', 'conditions', 'paymentTerms', 'date', 'dueDate']
      .map((name) => `data/${name}`),
    ...['name', 'contact', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'region', 'postalCode', 'country', 'vatId']
      .map((name) => `data/customer/${name}`),
    'data/lines/0/name',
    'data/lines/0/description'
  ],
  esign: [
    ...['firstName', 'lastName', 'email', 'phoneNumber'].map((name) => `esign/signers/0/${name}`),
    'esign/locale',
    'document/filename'
  ],
  postal: ['name', 'company', 'address', 'city', 'state', 'postalCode', 'country'].map((name) => `postal/recipient/${name}`),
  sms: ['sms/message', 'sms/sender', 'sms/phoneNumber'],
  email: ['email/subject', 'email/text', 'email/from', 'email/to/0', 'email/replyTo', 'attachments/0/filename']
}

function put (into: JsonObject, place: string, value: string): JsonObject {
  const changed = structuredClone(into)
  const names = place.split('/')
  const last = names.pop() ?? ''
  let holder: Record<string, unknown> = changed
  for (const name of names) {
    const next = holder[name] ?? {}
    if (!isRecord(next) && !Array.isArray(next)) return changed
    holder = (holder[name] = next) as Record<string, unknown>
  }
  holder[last] = value
  return changed
}

const fitInvoice = compileJsonSchema({ $ref: 'dispatch:invoice' })

/** What the service itself says of a request, before its provider does. */
function refusedByService (provider: InstalledProvider, service: ProvidedName, { [service]: own, data = {} }: JsonObject): boolean {
  const { html: _, text: body, ...fields } = own as JsonObject
  const asked = service === 'email' ? { ...fields, ...(body === undefined ? {} : { body }) } : fields
  const isInvoice = service === 'invoicing'
  const today = '2026-03-14'
  const rules: Pick<AnyProvidedService<unknown>, 'check'> = services[service]
  const findings = rules.check({
    fields: asked,
    at: (field: string) => `/${service}/${field}`,
    data: data as JsonObject,
    template: isInvoice ? { vocabulary: 'invoice' } : {},
    provider: capabilitiesOf(provider, service),
    today,
    otherServices: []
  })
  const words = isInvoice ? checkInvoice({ data: data as JsonObject, template: {}, today }).problems ?? [] : []
  return (isInvoice && !fitInvoice(data).ok) || [...words, ...findings.problems ?? [], ...findings.expectations ?? []].length > 0
}

// Of these, the fixtures alone are held against the description; of a file no text of the request reaches the vendor.
const fixturesAlone = ['dropbox', 'dropbox-sign']

for (const [vendor, { place, hosts }] of Object.entries(described).filter(([vendor]) => !fixturesAlone.includes(vendor))) {
  const api = await vendorApi(vendor, hosts)
  await t.test(`what ${vendor}'s own description does not permit is refused by validation, and reaches nobody`, {
    skip: api === undefined && absent
  }, async (t) => {
    const folder = await realpath(new URL(`../../providers/${place}`, import.meta.url).pathname)
    const provider = await loadProvider(folder, 'as it is', 10)
    const { sends } = await readFixtures(folder)
    const accepted = sends.filter(({ fixture }) => fixture.result.outcome === 'accepted')
    const stage = await createVendorDouble()
    t.teardown(() => stage.close())
    const counts = { refused: 0, sent: 0 }

    async function hold (base: Named<DispatchFixture>, changes: readonly (readonly [string, string])[]): Promise<string[]> {
      const { service } = base.fixture
      const request = changes.reduce((whole, [where, value]) => put(whole, where, value), base.fixture.request)
      let prepared
      try {
        if (refusedByService(provider, service, request)) return []
        prepared = prepareSend(provider, { ...base, fixture: { ...base.fixture, request } })
      } catch {
        // The schema of the service refuses it.
        return []
      }
      const { call } = prepared
      if (call.verb !== 'dispatch') return []
      const { plain: settings } = splitSecrets(provider.manifest.settings, call.settings)
      const { requestSettings, sandbox } = call
      const foreseen = await problemsForeseen(provider, service, call.request, { settings, requestSettings, sandbox, now: now() })
      if (foreseen.length > 0) {
        counts.refused++
        return []
      }
      const { requests } = await run(provider, stage, call, { limit: 10_000, endLimit: 2_000 })
      counts.sent++
      return requests.flatMap(({ request }) => api?.problems(request) ?? [])
    }

    await fc.assert(fc.asyncProperty(fc.constantFrom(...accepted).chain((base) => {
      const change = fc.constantFrom(...places[base.fixture.service] ?? []).chain((place) =>
        fc.tuple(fc.constant(place), /^email\/(from|to|replyTo)/.test(place) ? mailbox : text)
      )
      return fc.tuple(fc.constant(base), fc.array(change, { minLength: 1, maxLength: 2 }))
    }), async ([base, changes]) => {
      const problems = await hold(base, changes)
      if (problems.length > 0) throw new Error(`${base.name}: ${problems.join(' ')}`)
    }), { numRuns: 120 })
    t.ok(counts.sent > 20, JSON.stringify(counts))
  })
}

await t.test('currencies and countries are those of the descriptions', async (t) => {
  const lists = [
    {
      vendor: 'xero',
      place: 'community/xero',
      schema: 'CurrencyCode',
      own: ({ services: { invoicing } }: Manifest) => enumAt(invoicing?.limits, '/data/currency')
    },
    {
      vendor: 'lob',
      place: 'lob',
      schema: 'country_extended',
      own: ({ services: { postal } }: Manifest) => postal?.capabilities.countries ?? []
    }
  ]
  /** Countries of ISO 3166-1 that are states for Lob, and those that are none any more. */
  const known = { xero: [], lob: 'US AS FM GU MH MP PR PW VI'.split(' ') }
  for (const { vendor, place, schema, own } of lists) {
    const described = await enumerationOf(vendor, schema)
    if (described === undefined) return t.pass(absent)
    const { manifest } = await loadProvider(await realpath(new URL(`../../providers/${place}`, import.meta.url).pathname), 'as it is', 10)
    t.same(own(manifest).filter((code) => ![...described, ...known[vendor as keyof typeof known]].includes(code)), [], vendor)
    t.ok(own(manifest).length > 100)
  }
})

function enumAt (limits: ManifestLimits = [], place: string): string[] {
  const fits = limits.find(({ at }) => at === place)?.fits
  return isRecord(fits) && Array.isArray(fits['enum']) ? fits['enum'].map(String) : []
}

import t from 'tap'
import { postal } from '../../../core/packages/services/postal/index.ts'
import { has } from '../../support/matching.ts'
import { judge, type Judgement, template, type World } from '../pipeline/support.ts'

const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const without = (field: string): object => Object.fromEntries(Object.entries(recipient).filter(([name]) => name !== field))
const judgeTo = (changes: object, world?: World): Judgement =>
  judge('postal', { template, postal: { recipient: { ...recipient, ...changes } } }, world)
const judgeMail = (fields: object, world?: World): Judgement => judge('postal', { template, postal: { recipient, ...fields } }, world)

const document = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'a.pdf',
  contentType: 'application/pdf',
  size: 1,
  sha256: '0'.repeat(64)
}

await t.test('an address is complete', (t) => {
  for (const field of ['name', 'address', 'city', 'postalCode', 'country']) {
    has(t, judge('postal', { template, postal: { recipient: without(field) } }), {
      word: 'validation_error',
      problems: [`/postal/recipient/${field} required`]
    }, field)
    has(t, judgeTo({ [field]: '' }), { word: 'validation_error', problems: [new RegExp(`^/postal/recipient/${field} `)] }, `empty ${field}`)
  }
  t.same(judgeTo({ city: '  ' }).problems, ['/postal/recipient/city pattern'])
  t.same(judgeTo({ company: 'Analytical Engines' }).problems, [])
  has(t, judge('postal', { template }), { word: 'validation_error', problems: ['/postal/recipient required'] })
  t.same(judgeTo({ zip: '75002' }).problems, ['/postal/recipient/zip unknown_field'])
  t.end()
})

await t.test('a state may be given, and in the US it is one', (t) => {
  const inTheUs = { city: 'San Francisco', postalCode: '94107', country: 'US' }
  t.same(judgeTo(inTheUs).problems, [], 'nobody needs one')
  for (const state of ['CA', 'DC', 'PR', 'AE']) t.same(judgeTo({ ...inTheUs, state }).problems, [], state)
  for (const state of ['XX', 'California', 'ca']) {
    has(t, judgeTo({ ...inTheUs, state }), { word: 'validation_failed', problems: ['/postal/recipient/state unknown_state'] }, state)
  }
  t.same(judgeTo({ state: 'Île-de-France' }).problems, [])
  t.same(judgeTo({ city: 'Toronto', state: 'ON', postalCode: 'M5V 2T6', country: 'CA' }).problems, [])
  t.same(judgeTo({ state: ' ' }).problems, ['/postal/recipient/state pattern'])
  t.end()
})

await t.test('an address may have several lines, a name has one', (t) => {
  t.same(judgeTo({ address: 'Building B\n12 rue de la Paix' }).problems, [])
  t.same(judgeTo({ address: '12 rue\u0007' }).problems, ['/postal/recipient/address pattern'])
  t.same(judgeTo({ name: 'Ada\nLovelace' }).problems, ['/postal/recipient/name pattern'])
  t.end()
})

await t.test('a country is an ISO 3166-1 alpha-2 code', (t) => {
  has(t, judgeTo({ country: 'fr' }), { word: 'validation_error', problems: ['/postal/recipient/country pattern'] })
  has(t, judgeTo({ country: 'FRA' }), { word: 'validation_error', problems: ['/postal/recipient/country pattern'] })
  has(t, judgeTo({ country: 'XX' }), { word: 'validation_failed', problems: ['/postal/recipient/country unknown_country'] })
  has(t, judgeTo({ country: 'UK' }), { word: 'validation_failed', problems: ['/postal/recipient/country unknown_country'] })
  t.end()
})

await t.test('a postal code has the form of its country', (t) => {
  const forms = [
    ['FR', '75002', '7500'],
    ['DE', '10115', '1011'],
    ['GB', 'SW1A 1AA', '12345'],
    ['US', '10001-1234', '1000'],
    ['CA', 'K1A 0B1', '12345'],
    ['NL', '1012 AB', '10125'],
    ['BE', '1000', '10000'],
    ['CH', '8001', '80010'],
    ['PL', '00-001', '0001'],
    ['JP', '100-0001', '10'],
    ['IE', 'D02 X285', '12345']
  ] as const
  for (const [country, good, bad] of forms) {
    t.same(judgeTo({ country, postalCode: good }).problems, [], `${country} ${good}`)
    has(t, judgeTo({ country, postalCode: bad }), { word: 'validation_failed', problems: ['/postal/recipient/postalCode format'] },
      `${country} ${bad}`)
  }
  for (const [country, postalCode] of [['LU', 'L-1234'], ['GB', 'BFPO 57'], ['CH', 'CH-8000'], ['FR', '75008 CEDEX 08']] as const) {
    t.same(judgeTo({ country, postalCode }).problems, [], `${country} ${postalCode}`)
  }
  for (const [country, postalCode] of [['LU', 'B-1234'], ['FR', 'BFPO 57'], ['CH', '8000 CEDEX'], ['FR', '7500 CEDEX 08']] as const) {
    t.same(judgeTo({ country, postalCode }).problems, ['/postal/recipient/postalCode format'], `${country} ${postalCode}`)
  }
  t.same(judgeTo({ country: 'XI', postalCode: 'BT1 5GS' }).problems, ['/postal/recipient/country unknown_country'],
    'the post knows Northern Ireland as GB')
  t.same(judgeTo({ country: 'VN', postalCode: '700000' }).problems, [], 'a form that is not known is not checked')
  t.end()
})

await t.test('a postal code is required, optional or unknown by country', (t) => {
  const to = (changes: object): Judgement => judge('postal', { template, postal: { recipient: { ...without('postalCode'), ...changes } } })
  for (const country of ['FR', 'DE', 'GB', 'US', 'JP', 'NL']) {
    has(t, to({ country }), { word: 'validation_error', problems: ['/postal/recipient/postalCode required'] }, country)
  }
  for (const country of ['IE', 'KE', 'NG', 'NA', 'TZ', 'XK', 'CL', 'VN']) has(t, to({ country }), { problems: [], warnings: [] }, country)
  // The Universal Postal Union counts these, too, as countries without postal codes.
  const codeless = `AE AG AO AW BF BI BJ BO BQ BS BV BW BZ CD CF CG CI CK CM CW DJ DM ER FJ GA GD GM GQ GY HK JM KI KM KN ML MO MR MW NR NU
    QA RW SB SC SL SR SS ST SX SY TD TF TG TK TL TO TV UG VU YE ZW PA GH TT`.split(/\s+/)
  for (const country of codeless) {
    has(t, to({ country }), { problems: [], warnings: [] }, country)
    has(t, judgeTo({ country }), { problems: [], warnings: ['/postal/recipient/postalCode no_postal_codes'] }, country)
  }
  t.same(judgeTo({}).warnings, [], 'where there are some, they are no warning')
  t.end()
})

await t.test('a postal code in a usual writing is sent as it is written in its country; an unusual one is a warning', (t) => {
  const sent = (country: string, postalCode: string): unknown =>
    postal.request({ recipient: { ...recipient, country, postalCode } }, { document, pages: 1, signatures: [], data: {}, metadata: {} })
      .postal.recipient.postalCode
  for (const [country, given, code] of [
    ['IE', 'D02AF30', 'D02 AF30'],
    ['IN', '110 001', '110001'],
    ['GB', 'sw1a1aa', 'SW1A 1AA'],
    ['US', '94107 1234', '94107-1234'],
    ['JP', '〒100-0001', '100-0001'],
    ['AZ', 'AZ1000', 'AZ 1000']
  ] as const) {
    has(t, judgeTo({ country, postalCode: given }), { problems: [], warnings: [] }, `${country} ${given}`)
    t.equal(sent(country, given), code, `${country} ${given}`)
  }
  for (const [country, postalCode] of [['SA', '12345-6789'], ['GB', 'SW1A'], ['SV', '1101']] as const) {
    has(t, judgeTo({ country, postalCode }), { problems: [], warnings: ['/postal/recipient/postalCode unusual_postal_code'] }, country)
    t.equal(sent(country, postalCode), postalCode)
  }
  t.end()
})

await t.test('Kosovo is XK to the post', (t) => {
  t.same(judgeTo({ country: 'XK', postalCode: '10000' }).problems, [])
  t.end()
})

await t.test('the mail type is one of two and one that the provider has; SIMPLE unless given', (t) => {
  t.same(judgeMail({ mailType: 'EXPRESS' }).problems, ['/postal/mailType enum'])
  t.same(judgeMail({ mailType: 'REGISTERED' }).problems, ['/postal/mailType not_supported_by_provider'])
  t.same(judgeMail({ mailType: 'REGISTERED' }, { capabilities: { mailTypes: ['REGISTERED'] } }).problems, [])
  t.same(judgeMail({}, { capabilities: { mailTypes: ['REGISTERED'] } }).problems, ['/postal/mailType not_supported_by_provider'])
  t.end()
})

for (const field of ['color', 'duplex']) {
  await t.test(`${field} needs a provider that prints so`, (t) => {
    t.same(judgeMail({ [field]: true }).problems, [`/postal/${field} not_supported_by_provider`])
    t.same(judgeMail({ [field]: true }, { capabilities: { [field]: true } }).problems, [])
    t.same(judgeMail({ [field]: false }).problems, [])
    t.same(judgeMail({ [field]: 'yes' }).problems, [`/postal/${field} type`])
    t.end()
  })
}

await t.test('the country is one that the provider delivers to', (t) => {
  t.same(judgeTo({}, { capabilities: { countries: ['FR', 'BE'] } }).problems, [])
  t.same(judgeTo({}, { capabilities: { countries: ['BE'] } }).problems, ['/postal/recipient/country not_supported_by_provider'])
  t.end()
})

await t.test('a letter has no more pages than the provider takes, known once it is made', (t) => {
  const acme = { code: 'acme', capabilities: { mailTypes: ['SIMPLE' as const], maxPages: 3 } }
  const check = (pages: number, by: Parameters<NonNullable<typeof postal.checkContent>>[2], fields = {}, size = 1) =>
    postal.checkContent?.({ recipient, ...fields }, { document: { ...document, size }, pages, signatures: [], data: {}, metadata: {} }, by)
  t.same(check(3, acme), [])
  t.same(check(4, acme), [{
    path: '/template',
    code: 'not_supported_by_provider',
    message: 'The provider "acme" takes at most 3 pages, and this has 4.'
  }])
  t.same(check(4, { code: 'acme', capabilities: { mailTypes: ['SIMPLE'] } }), [])
  has(t, check(4, acme, { documents: [{}] }), [{ path: '/postal/documents' }])
  has(t, check(4, { code: 'acme', capabilities: { mailTypes: ['SIMPLE'], maxSize: 10 } }, {}, 11), [{ message: /at most 10 bytes/ }])
  t.end()
})

await t.test('a provider that declares its papers prints upright pages of these, and of any size that may become them', (t) => {
  const acme = { code: 'acme', capabilities: { mailTypes: ['SIMPLE' as const], papers: ['Letter' as const] } }
  const why = (page: object, by = acme): string | undefined => postal.paper?.check(page, by)
  t.equal(why({ size: 'auto' }), undefined)
  t.equal(why({ size: 'Letter' }), undefined)
  for (const page of [{}, { size: 'A4' }]) {
    t.equal(why(page),
      'The provider "acme" prints only on Letter in portrait format, and the pages of this template are A4: with "page: { size: auto }" ' +
        'they become what is printed.')
  }
  t.equal(why({ size: 'auto', orientation: 'landscape' }),
    'The provider "acme" prints only on Letter in portrait format, and the pages of this template lie on their side (landscape).')
  t.equal(postal.paper?.check({ size: 'A4', orientation: 'landscape' }, { code: 'acme', capabilities: { mailTypes: ['SIMPLE'] } }),
    undefined)
  t.end()
})

await t.test('the provider is asked with every default in its place', (t) => {
  const made = { document, pages: 1, signatures: [], data: {}, metadata: { orderId: '1' } }
  t.same(postal.request({ recipient }, made), {
    postal: { recipient, mailType: 'SIMPLE', color: false, duplex: false },
    document,
    metadata: { orderId: '1' }
  })
  has(t, postal.request({ recipient, mailType: 'REGISTERED', color: true, duplex: true }, made).postal, {
    mailType: 'REGISTERED',
    color: true,
    duplex: true
  })
  t.end()
})

await t.test('a dispatch is found by its recipient', (t) => {
  t.same(postal.facts({ recipient }, { number: 'L-1' }), { documentNumber: 'L-1', recipient: 'Ada Lovelace' })
  t.end()
})

await t.test('a recipient is known by the company and the state too, in a request and in a text', (t) => {
  const keyOf = (changes: object): string | undefined => postal.recipients?.in({ recipient: { ...recipient, ...changes } })[0]?.address
  const at = { address: '1 Main St\nSuite 5', city: 'Springfield', postalCode: '62701', state: 'IL', country: 'US' }
  const key = keyOf({ ...at, company: 'Analytical Engines, Inc.' })
  t.equal(key, 'ada lovelace, analytical engines inc 1 main st suite 5, 62701 springfield il, us')
  for (const text of ['Ada Lovelace, Analytical Engines Inc., 1 Main St, Suite 5, 62701 Springfield IL, US', key ?? '']) {
    t.equal(postal.recipients?.known(text), key)
  }
  const others = [{ ...at, company: 'Difference Engines, Inc.' }, at, { ...at, company: 'Analytical Engines, Inc.', state: 'MO' }]
  t.equal(new Set([key, ...others.map(keyOf)]).size, 4)
  t.equal(keyOf({}), 'ada lovelace, 12 rue de la paix, 75002 paris, fr')
  t.end()
})

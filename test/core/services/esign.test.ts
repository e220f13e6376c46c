import fc from 'fast-check'
import t from 'tap'
import { esign } from '../../../core/packages/services/esign/index.ts'
import { has } from '../../support/matching.ts'
import { judge, template, type World } from '../pipeline/support.ts'

const ada = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }
const grace = { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
const alan = { email: 'alan@example.com', firstName: 'Alan', lastName: 'Turing' }

const problems = (esign: object, world?: World): string[] =>
  judge('esign', { template, esign: { signers: [ada], ...esign } }, world).problems
const ordered = (...orders: (number | undefined)[]): object[] =>
  orders.map((order, index) => ({ ...ada, email: `signer${index}@example.com`, ...(order === undefined ? {} : { order }) }))

await t.test('signers may stand at the top or inside, and must not say two things', (t) => {
  has(t, judge('esign', { template, signers: [ada] }).plan?.steps, [{ fields: { signers: [ada] } }])
  has(t, judge('esign', { template, esign: { signers: [ada] } }).plan?.steps, [{ fields: { signers: [ada] } }])
  t.same(
    judge('esign', { template, signers: [ada], esign: { signers: [{ lastName: 'Lovelace', firstName: 'Ada', email: 'ada@example.com' }] } })
      .problems,
    [],
    'the order of the keys says nothing'
  )
  has(t, judge('esign', { template, signers: [ada], esign: { signers: [grace] } }), {
    word: 'validation_error',
    problems: ['/esign/signers contradiction']
  })
  has(t, judge('esign', { template }), { word: 'validation_error', problems: ['/signers required'] })
  t.end()
})

await t.test('there is at least one signer, each with an e-mail address and both names', (t) => {
  t.same(problems({ signers: [] }), ['/esign/signers too_few'])
  t.same(problems({ signers: [{}] }), [
    '/esign/signers/0/email required',
    '/esign/signers/0/firstName required',
    '/esign/signers/0/lastName required'
  ])
  t.same(problems({ signers: [{ ...ada, email: 'ada' }] }), ['/esign/signers/0/email format'])
  t.same(problems({ signers: [{ ...ada, firstName: ' ' }] }), ['/esign/signers/0/firstName pattern'])
  t.same(problems({ signers: [{ ...ada, lastName: 'Lovelace\r\nBcc: x@example.com' }] }), ['/esign/signers/0/lastName pattern'])
  t.same(problems({ signers: [{ ...ada, order: 0 }] }), ['/esign/signers/0/order too_small'])
  t.same(problems({ signers: [{ ...ada, order: 1.5 }] }), ['/esign/signers/0/order type'])
  t.same(problems({ signers: [{ ...ada, phone: '1' }] }), ['/esign/signers/0/phone unknown_field'])
  t.end()
})

await t.test('orders count from 1 without a gap, equal ones sign at the same time', (t) => {
  t.same(problems({ signers: ordered(1, 2, 3) }), [])
  t.same(problems({ signers: ordered(2, 1, 1, 2) }), [])
  t.same(problems({ signers: ordered(1, 3) }), ['/esign/signers/1/order order_gap'])
  t.same(problems({ signers: ordered(2, 2) }), ['/esign/signers/0/order order_gap', '/esign/signers/1/order order_gap'])
  t.same(judge('esign', { template, signers: ordered(2) }).problems, ['/signers/0/order order_gap'], 'told where the client wrote it')
  has(t, judge('esign', { template, signers: ordered(1, 3) }).details, [{ message: /^No signer has the order 2: / }])
  t.end()
})

await t.test('either all signers have an order or none', (t) => {
  t.same(problems({ signers: ordered(undefined, undefined) }), [])
  t.same(problems({ signers: ordered(1, undefined, 2) }), ['/esign/signers/1/order order_missing'])
  t.end()
})

await t.test('any list of orders passes exactly when its values are 1 to n', (t) => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }), (orders) => {
    const distinct = new Set(orders)
    return (problems({ signers: ordered(...orders) }).length === 0) === (Math.max(...orders) === distinct.size)
  }))
  t.end()
})

await t.test('nobody signs twice, whatever the case of the address', (t) => {
  t.same(problems({ signers: [ada, grace, { ...alan, email: 'ADA@Example.com' }] }), ['/esign/signers/2/email duplicate_signer'])
  has(t, judge('esign', { template, signers: [ada, { ...ada, firstName: 'Bob' }] }).details, [{
    message: /"acme" tells signers apart by their/
  }])
  t.end()
})

await t.test('several signers have one address, and one signs at several steps, where the provider tells them apart otherwise', (t) => {
  const world = { capabilities: { sameAddress: true } }
  const bob = { ...ada, firstName: 'Bob' }
  t.same(problems({ signers: [ada, bob] }, world), [])
  t.same(problems({ signers: [{ ...ada, order: 1 }, { ...grace, order: 2 }, { ...ada, order: 3 }] }, world), [])
  const twice = [ada, bob, { ...ada, email: 'ADA@example.com', firstName: 'ADA' }]
  t.same(problems({ signers: twice }, world), ['/esign/signers/2/email duplicate_signer'])
  t.same(problems({ signers: twice.map((one) => ({ ...one, order: 1 })) }, world), ['/esign/signers/2/email duplicate_signer'])
  t.end()
})

await t.test('the address of a signer is one as in an e-mail; the provider gets its domain in ASCII', (t) => {
  const signers = [{ ...ada, email: 'ada@bücher.example' }]
  t.same(problems({ signers }), [])
  for (const email of ['Ada <ada@example.com>', '"a b"@example.com', 'ada@exa\u200fmple.com']) {
    t.same(problems({ signers: [{ ...ada, email }] }), ['/esign/signers/0/email format'], email)
  }
  t.same(problems({ signers: [...signers, { ...grace, email: 'ada@xn--bcher-kva.example' }] }), ['/esign/signers/1/email duplicate_signer'])
  has(t, esign.request({ signers }, {
    document: {
      id: '01960000-0000-7000-8000-000000000001',
      filename: 'a.pdf',
      contentType: 'application/pdf',
      size: 1,
      sha256: '0'.repeat(64)
    },
    signatures: [],
    data: {},
    metadata: {}
  }).esign.signers, [{ email: 'ada@xn--bcher-kva.example' }])
  t.end()
})

await t.test('the signature type is one of three and one that the provider has; SIMPLE unless given', (t) => {
  t.same(problems({ signatureType: 'simple' }), ['/esign/signatureType enum'])
  t.same(problems({ signatureType: 'QUALIFIED' }), ['/esign/signatureType not_supported_by_provider'])
  t.same(problems({ signatureType: 'QUALIFIED' }, { capabilities: { signatureTypes: ['QUALIFIED'] } }), [])
  t.same(problems({}, { capabilities: { signatureTypes: ['QUALIFIED'] } }), ['/esign/signatureType not_supported_by_provider'])
  t.end()
})

await t.test('a workflow ends after 1 to 365 days', (t) => {
  for (const [expiresInDays, found] of [
    [1, []],
    [365, []],
    [0, ['/esign/expiresInDays too_small']],
    [
      366,
      ['/esign/expiresInDays too_large']
    ],
    [1.5, ['/esign/expiresInDays type']]
  ] as const) t.same(problems({ expiresInDays }), found)
  t.end()
})

await t.test('the language is one that the provider writes', (t) => {
  t.same(problems({ locale: 'fr' }), [])
  t.same(problems({ locale: 'en-GB' }), [])
  for (const locale of ['', 'f', 'french', 'fr-', 'fr-FRA', 'fr FR']) t.same(problems({ locale }), ['/esign/locale pattern'], locale)
  t.same(problems({ locale: 'fr' }, { capabilities: { locales: ['en', 'fr'] } }), [])
  t.same(problems({ locale: 'de' }, { capabilities: { locales: ['en', 'fr'] } }), ['/esign/locale not_supported_by_provider'])
  t.end()
})

await t.test('a language falls back to one that the provider has, and is handed over as that', (t) => {
  const requested = (locale: string, locales?: string[]): unknown =>
    esign.request({ signers: [ada], locale }, {
      document: { id: '', filename: '', contentType: '', size: 0, sha256: '' },
      pages: 1,
      signatures: [],
      data: {},
      metadata: {}
    }, { signatureTypes: ['SIMPLE'], ...(locales !== undefined && { locales }) }).esign.locale
  const locales = ['en', 'fr', 'fr-CA', 'zh-TW']
  for (const [locale, language] of [['fr-FR', 'fr'], ['fr_CA', 'fr-CA'], ['EN-us', 'en'], ['zh-Hant-HK', 'zh-TW']] as const) {
    t.same(problems({ locale }, { capabilities: { locales } }), [], locale)
    t.equal(requested(locale, locales), language)
  }
  t.equal(requested('fr_fr'), 'fr-FR', 'as it is where the provider lists none')
  t.end()
})

await t.test('a phone number that the provider does nothing with is a warning', (t) => {
  const signers = [{ ...ada, phoneNumber: '+33612345678' }, grace]
  const warned = (capabilities: object, more: World = {}): string[] =>
    judge('esign', { template, signers }, { capabilities: { ...capabilities }, ...more }).warnings
  const unused = ['/signers/0/phoneNumber unused_field']
  t.same(warned({}), unused)
  t.same(warned({ usesPhoneNumber: true }), [])
  t.same(warned({ phoneNumberFor: ['SIMPLE'] }), [])
  t.same(warned({ phoneNumberFor: ['ADVANCED'] }), unused)
  t.same(warned({ usesPhoneNumber: 'codes' }, { settings: { codes: true } }), [])
  t.same(warned({ usesPhoneNumber: 'codes' }, { settings: { codes: false } }), unused)
  t.same(warned({ usesPhoneNumber: 'codes' }, { settings: {} }), unused)
  t.end()
})

await t.test('no more signers than the provider takes', (t) => {
  t.same(problems({ signers: [ada, grace] }, { capabilities: { maxSigners: 2 } }), [])
  t.same(problems({ signers: [ada, grace, alan] }, { capabilities: { maxSigners: 2 } }), ['/esign/signers not_supported_by_provider'])
  t.end()
})

await t.test('a signer\'s phone number is one that can exist, in the form of E.164', (t) => {
  const world = (phoneNumber: string) =>
    judge('esign', { template, signers: [ada, { ...grace, phoneNumber }] }, { capabilities: { usesPhoneNumber: true } })
  t.same(world('+33612345678').problems, [])
  t.same(world('0612345678').problems, ['/signers/1/phoneNumber pattern'])
  t.same(world('+33612').problems, ['/signers/1/phoneNumber pattern'])
  t.same(world('+336123456').problems, ['/signers/1/phoneNumber impossible_number'])
  has(t, world('+33000000000').warnings, ['/signers/1/phoneNumber unassigned_number'])
  t.end()
})

await t.test('each signer has a phone number where the provider sends a code to it', (t) => {
  const capabilities = { signatureTypes: ['SIMPLE', 'ADVANCED', 'QUALIFIED'], phoneNumberFor: ['ADVANCED', 'QUALIFIED'] } as const
  const phoned = { ...ada, phoneNumber: '+33612345678' }
  t.same(problems({}, { capabilities }), [])
  t.same(problems({ signatureType: 'ADVANCED', signers: [phoned] }, { capabilities }), [])
  t.same(problems({ signatureType: 'ADVANCED', signers: [phoned, grace, alan] }, { capabilities }), [
    '/esign/signers/1/phoneNumber required',
    '/esign/signers/2/phoneNumber required'
  ])
  t.same(problems({ signatureType: 'QUALIFIED' }, { capabilities: { signatureTypes: ['QUALIFIED'] } }), [],
    'no other provider asks for one')
  t.end()
})

await t.test('the provider is asked with every default in its place', (t) => {
  const document = {
    id: '01960000-0000-7000-8000-000000000001',
    filename: 'a.pdf',
    contentType: 'application/pdf',
    size: 1,
    sha256: '0'.repeat(64)
  }
  const signatures = [{ signer: 1, page: 1, x: 10, y: 20, width: 200, height: 60 }]
  t.same(esign.request({ signers: [ada] }, { document, pages: 1, signatures, data: { number: 'C-1' }, metadata: { orderId: '1' } }), {
    esign: { signers: [ada], signatureType: 'SIMPLE', expiresInDays: 30 },
    document,
    signatures,
    data: { number: 'C-1' },
    metadata: { orderId: '1' }
  })
  has(t, esign.request({ signers: [ada], signatureType: 'ADVANCED', expiresInDays: 5, locale: 'fr' }, {
    document,
    pages: 1,
    signatures,
    data: {},
    metadata: {}
  }).esign, { signatureType: 'ADVANCED', expiresInDays: 5, locale: 'fr' })
  t.end()
})

await t.test('the document is made for its signers, and the dispatch found by the first of them', (t) => {
  t.same(esign.signers?.({ signers: [ada, grace] }), ['Ada Lovelace', 'Grace Hopper'])
  t.same(esign.facts({ signers: [ada, grace] }, { number: 'C-1' }), { documentNumber: 'C-1', recipient: 'Ada Lovelace' })
  t.end()
})

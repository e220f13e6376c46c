import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { type EInvoiceFormat, type EInvoiceProfile, eInvoiceProfiles, levels, profiles, reaches } from '../model/profiles.ts'
import { terms } from '../model/terms.ts'
import { checkEInvoice } from '../rules/check.ts'
import { eInvoiceOf, pageDataOf } from '../write/write.ts'
import { plain } from './support.ts'
import { all, type Element, readXml, textAt } from './xml.ts'

const german = (vatId: string): JsonObject => ({
  ...plain.seller,
  country: 'DE',
  vatId,
  contact: 'A',
  phone: '+49 30 123',
  email: 'a@b.example'
})
const germany: JsonObject = {
  ...plain,
  seller: german('DE123456789'),
  customer: { ...plain.customer, country: 'DE', vatId: 'DE123456789' },
  payment: { means: 30 },
  bankDetails: { iban: 'DE02120300000000202051' },
  delivery: { date: '2026-03-12' }
}

function found (data: JsonObject, format: EInvoiceFormat): { problems: string[], warnings: string[] } {
  const { problems, warnings } = checkEInvoice(data, { format, currency: 'EUR' }, '')
  const reported = ({ code, path }: { code: string, path: string }): string => `${code} ${path}`
  return { problems: problems.map(reported), warnings: warnings.map(reported) }
}

function written (data: JsonObject, format: EInvoiceFormat): Element {
  return readXml(eInvoiceOf(data, { format, currency: 'EUR' }).xml)
}

const context = 'ExchangedDocumentContext'
const identifiers = (root: Element): (string | undefined)[] =>
  root.name === 'CrossIndustryInvoice'
    ? [
      textAt(root, `${context}/GuidelineSpecifiedDocumentContextParameter/ID`),
      textAt(root, `${context}/BusinessProcessSpecifiedDocumentContextParameter/ID`)
    ]
    : [textAt(root, 'CustomizationID'), textAt(root, 'ProfileID')]

void t.test('each profile stands in the XML of its formats, with its business process or that of the data', (t) => {
  for (const [eInvoiceProfile, { specification, process, processes, formats }] of Object.entries(profiles)) {
    for (const format of formats) {
      const { xml, conformance } = eInvoiceOf({ ...germany, eInvoiceProfile, businessProcess: 'S1' }, { format, currency: 'EUR' })
      t.strictSame(identifiers(readXml(xml)), [specification, processes === undefined ? 'S1' : process], `${eInvoiceProfile} ${format}`)
      t.equal(conformance, profiles[eInvoiceProfile as EInvoiceProfile].conformance)
    }
  }
  for (const eInvoiceProfile of ['PEPPOL', 'XRECHNUNG'] as const) {
    const { xml } = eInvoiceOf({ ...germany, eInvoiceProfile }, { format: 'UBL', currency: 'EUR' })
    t.equal(identifiers(readXml(xml))[1], profiles[eInvoiceProfile].process, 'where the data say none')
  }
  t.strictSame(identifiers(written(plain, 'UBL')), [profiles.PEPPOL.specification, profiles.PEPPOL.process], 'as before profiles')
  t.strictSame(identifiers(written(plain, 'CII')), [profiles.EN16931.specification, undefined])
  t.end()
})

void t.test('no rule asks for what the profile cannot say', (t) => {
  const { address: _, city: _city, postalCode: _code, ...seller } = plain.seller
  const { dueDate: _due, ...data } = { ...plain, seller, customer: { name: 'Ada' }, currency: 'EUR', eInvoiceProfile: 'MINIMUM' }
  t.strictSame(found(data, 'CII').problems, [])
  t.ok(eInvoiceOf(data, { format: 'CII', currency: 'EUR' }).xml.includes('<ram:DuePayableAmount>24.00<'))
  t.strictSame(found(data, 'FACTUR_X').problems, ['BR-11 /customer/country'], 'the page says it')
  t.strictSame(found({ ...data, customer: { name: 'Ada', country: 'ES' } }, 'CII').problems, ['not_in_profile /customer/country'])
  t.strictSame(found({ ...data, lines: [{ description: 'Tea', unitPrice: 1, taxRate: 20 }] }, 'CII').problems, ['BR-22 /lines/0/quantity'])
  t.end()
})

void t.test('what the lines ask of the parties is asked where the page says it, in profiles without lines too', (t) => {
  const { vatId: _, ...customer } = plain.customer
  const { vatId: __, ...seller } = plain.seller
  const line = { description: 'Tea', quantity: 1, unitPrice: 5 }
  const inside = { taxCategory: 'K', taxRate: 0, taxExemptionReason: 'Inside the EU' }
  const cases: [string, JsonObject][] = [
    ['BR-IC-02 /customer/vatId', { customer, lines: [{ ...line, ...inside }], delivery: { date: '2026-03-12', country: 'ES' } }],
    ['BR-AE-02 /customer/vatId', { customer, lines: [{ ...line, ...inside, taxCategory: 'AE' }] }],
    ['BR-S-02 /seller/vatId', { seller, lines: [{ ...line, taxRate: 20 }] }]
  ]
  for (const [expected, change] of cases) {
    for (const eInvoiceProfile of ['MINIMUM', 'BASIC_WL']) {
      const data = { ...plain, ...change, eInvoiceProfile }
      const isReported = (format: EInvoiceFormat): boolean => found(data, format).problems.includes(expected)
      t.strictSame([isReported('FACTUR_X'), isReported('CII')], [true, false], `${expected} ${eInvoiceProfile}`)
    }
  }
  t.end()
})

void t.test('the extended profiles let what is outside of VAT stand beside the rest, and its seller have a VAT number', (t) => {
  const lines = [{ description: 'Stamps', quantity: 1, unitPrice: 5, taxCategory: 'O' }]
  const rules = (data: JsonObject, format: EInvoiceFormat = 'CII'): string[] =>
    found({ ...plain, currency: 'EUR', ...data }, format).problems
  t.strictSame(rules({ lines, eInvoiceProfile: 'EXTENDED' }), [])
  t.strictSame(rules({ lines: [...plain.lines, ...lines], eInvoiceProfile: 'EXTENDED' }), [])
  t.ok(rules({ lines }).includes('BR-O-02 /seller/vatId'))
  t.strictSame(rules({ lines, eInvoiceProfile: 'BASIC_WL' }), [], 'a profile without lines does not say their category')
  const allowances = [{ amount: 1, reason: 'A', taxCategory: 'O' }]
  t.ok(rules({ lines, allowances, eInvoiceProfile: 'BASIC_WL' }).includes('BR-O-02 /seller/vatId'))
  t.end()
})

void t.test('a profile of another format is refused where it is named', (t) => {
  t.strictSame(found({ ...plain, eInvoiceProfile: 'PEPPOL' }, 'CII').problems, ['not_supported /eInvoiceProfile'])
  t.strictSame(found({ ...plain, eInvoiceProfile: 'BASIC' }, 'UBL').problems, ['not_supported /eInvoiceProfile'])
  t.end()
})

void t.test('plain UBL needs nothing of Peppol: no address, no reference; it may be self-billed, and has a note for each', (t) => {
  const { buyerReference: _, ...unrouted } = plain
  const data = {
    ...unrouted,
    type: 389,
    seller: { ...plain.seller, country: 'CH', vatId: 'CHE123456789' },
    notes: 'b',
    statements: [{ code: 'PMT', text: 'a' }]
  }
  t.strictSame(found(data, 'UBL').problems, [
    'PEPPOL-EN16931-R003 /buyerReference',
    'PEPPOL-EN16931-P0100 /type',
    'PEPPOL-EN16931-R020 /seller/electronicAddress'
  ])
  const plainUbl = { ...data, eInvoiceProfile: 'EN16931' }
  t.strictSame(found(plainUbl, 'UBL').problems, [])
  t.strictSame(all(written(plainUbl, 'UBL'), 'Note').map(({ text }) => text), ['#PMT#a', 'b'])
  t.end()
})

void t.test('XRechnung asks in both syntaxes for what German authorities need, by its own ids', (t) => {
  const { buyerReference: _, ...unrouted } = plain
  for (const format of ['CII', 'UBL'] as const) {
    t.strictSame(found({ ...germany, eInvoiceProfile: 'XRECHNUNG' }, format), { problems: [], warnings: [] })
    t.strictSame(found({ ...unrouted, eInvoiceProfile: 'XRECHNUNG' }, format).problems, [
      'BR-DE-1 /payment',
      'BR-DE-2 /seller/contact',
      'BR-DE-15 /buyerReference'
    ])
    const bare = {
      ...germany,
      eInvoiceProfile: 'XRECHNUNG',
      delivery: { country: 'DE' },
      bankDetails: { iban: 'DE00' },
      payment: { means: 58 }
    }
    t.strictSame(found(bare, format), {
      problems: ['BR-DE-10 /delivery/city', 'BR-DE-11 /delivery/postalCode'],
      warnings: ['BR-DE-19 /bankDetails/iban', 'BR-DE-TMP-32 /delivery/date']
    })
    const wrong = { ...germany, eInvoiceProfile: 'XRECHNUNG', type: 384, attachments: [{ id: '1', url: 'a/b' }] }
    t.strictSame(found({ ...wrong, seller: { ...german('DE123456789'), phone: '12', email: 'a' } }, format).warnings, [
      'BR-DE-26 /precedingInvoices',
      'BR-DE-27 /seller/phone',
      'BR-DE-28 /seller/email',
      'BR-TMP-2 /attachments/0/url'
    ])
  }
  const untaxed = {
    ...germany,
    eInvoiceProfile: 'XRECHNUNG',
    lines: [{ ...plain.lines[0], taxRate: undefined, taxCategory: 'O' }]
  } as unknown as JsonObject
  t.equal(
    textAt(written(untaxed, 'CII'), 'SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement/ApplicableTradeTax/RateApplicablePercent'),
    '0',
    'BR-DE-14'
  )
  t.end()
})

void t.test('what a profile cannot say is refused at its place; where the page is the invoice it is warned about, and left out', (t) => {
  const data = {
    ...plain,
    notes: 'n',
    bankDetails: { iban: 'FR7630006000011234567890189', bic: 'AGRIFRPP' },
    attachments: [{ id: '1' }],
    lines: [{ ...plain.lines[0], name: 'Tea', origin: 'CN' }]
  }
  const basic = ['BT-41', 'BT-86', 'BG-24', 'BT-154', 'BT-159']
  const lost = (eInvoiceProfile: string, format: EInvoiceFormat): { problems: string[], warnings: string[] } => {
    const { problems, warnings } = checkEInvoice({ ...data, eInvoiceProfile }, { format, currency: 'EUR' }, '')
    const ids = (reported: readonly { message: string }[]): string[] =>
      reported.flatMap(({ message }) => /\((B[TG]-\d+)\)/.exec(message)?.[1] ?? [])
    return { problems: ids(problems), warnings: ids(warnings) }
  }
  t.strictSame(lost('BASIC', 'CII'), { problems: basic.slice(1), warnings: [] })
  t.strictSame(lost('BASIC', 'FACTUR_X'), { problems: basic.slice(1), warnings: [] })
  t.strictSame(lost('BASIC_WL', 'CII'), { problems: ['BT-86', 'BG-24'], warnings: [] })
  t.strictSame(lost('BASIC_WL', 'FACTUR_X'), { problems: [], warnings: ['BT-86', 'BG-24'] })
  t.strictSame(lost('MINIMUM', 'FACTUR_X'), {
    problems: [],
    warnings: ['BT-9', 'BT-22', 'BT-35', 'BT-37', 'BT-38', 'BT-48', 'BT-50', 'BT-52', 'BT-53', 'BT-55', 'BG-17', 'BG-24']
  })
  t.strictSame(lost('EN16931', 'CII'), { problems: [], warnings: [] })

  const minimum = written({ ...data, eInvoiceProfile: 'MINIMUM' }, 'FACTUR_X')
  const settlement = 'SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement'
  t.strictSame(all(minimum, settlement)[0]?.children.map(({ name }) => name), [
    'InvoiceCurrencyCode',
    'SpecifiedTradeSettlementHeaderMonetarySummation'
  ])
  t.equal(textAt(minimum, `${settlement}/SpecifiedTradeSettlementHeaderMonetarySummation/GrandTotalAmount`), '24.00',
    'the sums of the lines')
  t.strictSame(all(minimum, 'SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem'), [])
  t.strictSame(found({ ...data, eInvoiceProfile: 'BASIC_WL', roundingAmount: '0.01' }, 'FACTUR_X').problems, [
    'not_in_profile /roundingAmount'
  ])
  t.end()
})

void t.test('a business process that a profile fixes is told: refused where the profile is named, otherwise warned about', (t) => {
  const data = { ...plain, businessProcess: 'S1' }
  t.strictSame(found(data, 'UBL'), { problems: [], warnings: ['not_in_profile /businessProcess'] })
  t.strictSame(found({ ...data, eInvoiceProfile: 'PEPPOL' }, 'UBL').problems, ['not_in_profile /businessProcess'])
  t.strictSame(found({ ...data, eInvoiceProfile: 'EN16931' }, 'UBL'), { problems: [], warnings: [] })
  t.end()
})

void t.test('no rule of Peppol or of Germany touches another profile, and each is in one of theirs', (t) => {
  const broken: JsonObject = {
    ...germany,
    taxCurrency: 'EUR',
    lines: [{
      ...plain.lines[0],
      priceQuantity: 0,
      total: 25,
      grossPrice: 12,
      priceDiscount: 1,
      allowances: [{ amount: 1, percent: 10, reason: 'r' }]
    }]
  }
  for (const eInvoiceProfile of eInvoiceProfiles.filter((name) => name !== 'PEPPOL' && name !== 'XRECHNUNG')) {
    for (const format of profiles[eInvoiceProfile].formats) {
      t.strictSame(found({ ...broken, eInvoiceProfile }, format).problems.filter((reported) => /^(PEPPOL|DE-R|BR-DE)/.test(reported)), [])
    }
  }
  t.ok(found(broken, 'UBL').problems.includes('PEPPOL-EN16931-R005 /taxCurrency'))
  t.strictSame(found({ ...plain, taxCurrency: 'EUR' }, 'CII'), { problems: [], warnings: [] }, 'BR-53 is met by the VAT itself')
  t.end()
})

void t.test('a due date and a total from another price are expected, and not required', (t) => {
  const { dueDate: _, ...dueless } = plain
  t.strictSame(found(dueless, 'CII'), { problems: [], warnings: ['no_due_date /dueDate'] })
  const computed = { ...plain, lines: [{ ...plain.lines[0], total: '20.50' }] }
  t.strictSame(found(computed, 'CII'), { problems: [], warnings: ['line_total /lines/0/total'] })
  t.strictSame(found({ ...computed, eInvoiceProfile: 'EN16931' }, 'UBL'), { problems: [], warnings: ['line_total /lines/0/total'] })
  t.strictSame(found(computed, 'UBL').problems, ['PEPPOL-EN16931-R120 /lines/0/total'])
  t.end()
})

void t.test('what no validator sees is warned about: ids of lines, supplies inside one country, check digits, half a contact', (t) => {
  const inside = {
    ...germany,
    lines: [{ ...plain.lines[0], id: '7', taxRate: 0, taxCategory: 'K' }, { ...plain.lines[0], id: '7', taxRate: 0, taxCategory: 'K' }],
    delivery: { date: '2026-03-12', country: 'DE', city: 'B', postalCode: '1' },
    buyerReference: '04011000-12345-35'
  }
  t.strictSame(found(inside, 'UBL'), {
    problems: [],
    warnings: [
      'line_id_twice /lines/1/id',
      'inside_one_country /lines/0/taxCategory',
      'inside_one_country /lines/1/taxCategory',
      'leitweg_id /buyerReference'
    ]
  })
  t.strictSame(found({ ...inside, lines: [plain.lines[0]], buyerReference: '04011000-12345-03' }, 'UBL').warnings, [])
  const { contact: _, phone: __, ...half } = german('DE123456789')
  t.strictSame(found({ ...germany, seller: half }, 'FACTUR_X').warnings, ['BR-DE-5 /seller/contact', 'BR-DE-6 /seller/phone'])
  t.end()
})

void t.test('a seller has several ids, a payment several accounts, and zeros behind a number do not count', (t) => {
  const data = {
    ...plain,
    seller: { ...plain.seller, id: [{ id: '4000001123452', scheme: '0088' }, { id: '549910' }] },
    bankDetails: [{ iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' }, { iban: 'DE02120300000000202051' }],
    lines: [{ ...plain.lines[0], quantity: '30.00000000000000', taxRate: '20.0000000' }]
  }
  for (const format of ['CII', 'UBL', 'FACTUR_X'] as const) t.strictSame(found(data, format).problems, [])
  const [cii, ubl] = [written(data, 'CII'), written(data, 'UBL')]
  const settlement = 'SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement/SpecifiedTradeSettlementPaymentMeans'
  t.strictSame(all(cii, `${settlement}/PayeePartyCreditorFinancialAccount/IBANID`).map(({ text }) => text), [
    'DE89370400440532013000',
    'DE02120300000000202051'
  ])
  t.strictSame(all(ubl, 'PaymentMeans/PayeeFinancialAccount/ID').map(({ text }) => text), ['DE89370400440532013000',
    'DE02120300000000202051'])
  t.equal(all(written({ ...data, type: 381 }, 'UBL'), 'PaymentMeans/PaymentDueDate').length, 1, 'UBL-SR-45')
  const seller = all(cii, 'SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement/SellerTradeParty')[0]?.children ?? []
  t.strictSame(seller.slice(0, 2).map(({ name, text }) => `${name} ${text}`), ['ID 549910', 'GlobalID 4000001123452'],
    'in the order of the schema')
  t.strictSame(all(ubl, 'AccountingSupplierParty/Party/PartyIdentification/ID').map(({ text }) => text), ['4000001123452', '549910'])
  t.strictSame(found({ ...data, seller: { ...data.seller, id: [{ id: '1' }, { id: '2', scheme: 'x' }] } }, 'CII').problems, [
    'BR-CL-10 /seller/id/1/scheme'
  ])

  const page = pageDataOf(data, { format: 'FACTUR_X', currency: 'EUR' })
  t.strictSame([page['bankDetails'], page['otherAccounts']], [data.bankDetails[0], [data.bankDetails[1]]])
  t.strictSame((page['seller'] as JsonObject)['id'], { id: '4000001123452, 549910' })
  const xml = {
    ...plain,
    eInvoiceProfile: 'EXTENDED_CTC_FR',
    attachments: [{ id: 'A', content: 'PGEvPg==', mediaType: 'text/xml', filename: 'a.xml' }]
  }
  const isRefused = (eInvoiceProfile: string): boolean =>
    found({ ...xml, eInvoiceProfile }, 'CII').problems.some((reported) => reported.startsWith('BR-CL-24'))
  t.strictSame(['EN16931', 'XRECHNUNG', 'EXTENDED', 'EXTENDED_CTC_FR'].filter(isRefused), ['EN16931', 'XRECHNUNG'])
  t.end()
})

void t.test('the terms: each level says what those before it say, and a group stands before its terms', (t) => {
  t.ok(terms.every(({ id, at, level }) => /^B[TG]-(X-)?\d+$/.test(id) && at.startsWith('/') && levels.includes(level)))
  const groups = terms.filter(({ id }) => id.startsWith('BG-'))
  for (const group of groups) {
    const inside = terms.map(({ at }, index) => ({ at, index })).filter(({ at }) => at.startsWith(`${group.at}/`))
    t.ok(inside.every(({ index }) => index > terms.indexOf(group)), group.id)
  }
  t.end()
})

/** What has no place of its own in the data: groups whose terms stand apart, and what is computed. */
const derived: readonly { id: string, from: string, level: typeof levels[number] }[] = [
  { id: 'BG-2', from: 'BT-23 and BT-24', level: 'MINIMUM' },
  { id: 'BG-4', from: '`/seller`', level: 'MINIMUM' },
  { id: 'BG-5', from: 'the fields of the address in `/seller`', level: 'MINIMUM' },
  { id: 'BG-6', from: '`contact`, `phone` and `email` of `/seller`', level: 'EN16931' },
  { id: 'BG-7', from: '`/customer`', level: 'MINIMUM' },
  { id: 'BG-8', from: 'the fields of the address in `/customer`', level: 'BASIC_WL' },
  { id: 'BG-9', from: '`contact`, `phone` and `email` of `/customer`', level: 'EN16931' },
  { id: 'BG-12', from: 'the fields of the address in `/taxRepresentative`', level: 'BASIC_WL' },
  { id: 'BG-15', from: 'the fields of the address in `/delivery`', level: 'BASIC_WL' },
  { id: 'BG-22', from: 'computed: the sums', level: 'MINIMUM' },
  { id: 'BT-107', from: 'computed: the sum of `/allowances`', level: 'BASIC_WL' },
  { id: 'BT-108', from: 'computed: the sum of `/charges`', level: 'BASIC_WL' },
  { id: 'BT-109', from: 'computed: the total without VAT', level: 'MINIMUM' },
  { id: 'BG-23', from: 'computed, for each category and rate; without lines, `/taxes`', level: 'BASIC_WL' },
  { id: 'BT-116', from: 'computed, or `/taxes/*/base`', level: 'BASIC_WL' },
  { id: 'BT-117', from: 'computed, or `/taxes/*/amount`', level: 'BASIC_WL' },
  { id: 'BT-118', from: 'of the lines, allowances and charges, or `/taxes/*/category`', level: 'BASIC_WL' },
  { id: 'BT-119', from: 'of the lines, allowances and charges, or `/taxes/*/rate`', level: 'BASIC_WL' },
  { id: 'BG-29', from: 'the prices of a line', level: 'BASIC' },
  { id: 'BT-150', from: 'the unit of the line (BT-130)', level: 'BASIC' },
  { id: 'BG-30', from: '`taxCategory` and `taxRate` of a line', level: 'BASIC' },
  { id: 'BG-31', from: 'what a line says of its item', level: 'BASIC' }
]

void t.test('every term and group of EN 16931 has a place in the data, or follows from others', (t) => {
  const reported = new Set([...terms, ...derived].map(({ id }) => id))
  const numbered = (kind: string, last: number): string[] => Array.from({ length: last }, (_, index) => `${kind}-${index + 1}`)
  t.strictSame([...numbered('BT', 165), ...numbered('BG', 32)].filter((id) => !reported.has(id)), ['BT-4'],
    'the norm has none of this number')
  t.ok(derived.every(({ id }) => !terms.some((term) => term.id === id)))
  t.end()
})

/** The tables of the README, made of the code. */
function tables (): string {
  const processIn = ({ process, processes }: typeof profiles[EInvoiceProfile]): string => {
    if (process === undefined) return 'of the data'
    const others = processes?.filter((one) => one !== process).map((one) => `\`${one}\``)
    return `\`${process}\`, unless the data say ${others === undefined ? 'another' : others.join(', ')}`
  }
  const rows = Object.entries(profiles).map(([name, facts]) =>
    `| ${[`\`${name}\``, `\`${facts.specification}\``, processIn(facts), facts.formats.join(', '), facts.rules.join(', ')].join(' | ')} |`
  )
  const names = eInvoiceProfiles.toSorted((one, other) => levels.indexOf(profiles[one].level) - levels.indexOf(profiles[other].level))
  const said = (level: typeof levels[number]): string => names.map((name) => reaches(profiles[name].level, level) ? 'yes' : '').join(' | ')
  return [
    '| profile | BT-24 | BT-23 | formats | rules beside EN 16931 |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    `| term | place in the data | ${names.join(' | ')} |`,
    `|---|---|${names.map(() => '---|').join('')}`,
    ...terms.map(({ id, at, level }) => `| ${id} | \`${at}\` | ${said(level)} |`),
    ...derived.map(({ id, from, level }) => `| ${id} | ${from} | ${said(level)} |`)
  ].join('\n')
}

void t.test('the README has the tables that the code makes (GOLDEN=write)', async (t) => {
  const file = new URL('../README.md', import.meta.url)
  const [before = '', , after = ''] = (await readFile(file, 'utf8')).split(/(?<=<!-- made of the code -->\n)|(?=\n<!-- until here -->)/)
  const desired = `${before}${tables()}${after}`
  if (process.env['GOLDEN'] === 'write') await writeFile(file, desired)
  t.equal(await readFile(file, 'utf8'), desired)
})

import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import t from 'tap'
import { isRecord } from '../../core/packages/common/records.ts'
import { compileJsonSchema } from '../../core/packages/common/schema.ts'
import { unreadFields } from '../../core/packages/documents/compile/field-usage.ts'
import { partsOf } from '../../core/packages/documents/test/office-support.ts'
import { made, pagesOf, wordsOf } from '../../core/packages/documents/test/support.ts'
import { checkEInvoice } from '../../core/packages/einvoice/rules/check.ts'
import { checkInvoice } from '../../core/packages/services/invoicing/invoice.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { allShipped, shipped, without } from './shipped.ts'

const templates = await allShipped()

/** An object at a key of the sample. */
function part (value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new TypeError('expected an object')
  return value
}

/** The least data that the schema takes. */
const least = {
  number: '1',
  date: '2026-03-14',
  customer: { name: 'Ada' },
  lines: [{ description: 'Tea', quantity: 1, unitPrice: 3, total: 3 }],
  total: 3
}

void t.test('the shared templates are these, by number', (t) => {
  t.same(templates.map(({ folder, id, documentType, service, vocabulary }) => [id, folder, service, documentType, vocabulary] as const), [
    [1, 'invoice', 'invoicing', 'INVOICE', 'invoice'],
    [2, 'quote', 'invoicing', 'QUOTE', 'invoice'],
    [3, 'credit-note', 'invoicing', 'CREDIT', 'invoice'],
    [4, 'e-invoice', 'invoicing', 'E_INVOICE', 'invoice'],
    [10, 'email-invoice', 'email', undefined, undefined],
    [11, 'email-reminder', 'email', undefined, undefined],
    [12, 'email-signature', 'email', undefined, undefined],
    [13, 'email-account', 'email', undefined, undefined],
    [20, 'sms-notice', 'sms', undefined, undefined],
    [21, 'sms-reminder', 'sms', undefined, undefined],
    [22, 'sms-signature', 'sms', undefined, undefined],
    [30, 'postal-letter', 'postal', undefined, undefined],
    [31, 'reminder-letter', 'postal', undefined, undefined],
    [40, 'service-contract', 'esign', undefined, undefined]
  ])
  t.end()
})

void t.test('quantities and unit prices are shown in full, amounts in the minor unit of their currency', async (t) => {
  const lines = [
    { description: 'Tea', quantity: 0.3333, unitPrice: 300, total: 99.99, taxRate: 0 },
    { description: 'Cloud', quantity: 100_000, unitPrice: 0.000_12, total: 12, taxRate: 0 },
    { description: 'Calls', quantity: '1.000000000001', unitPrice: '0.000000000012', total: 0.1 + 0.2, taxRate: 0 }
  ]
  for (const { folder, compiled, sample } of templates.filter(({ vocabulary }) => vocabulary === 'invoice')) {
    const data = { ...sample, lines }
    const pages = [
      (await made('html', compiled, data)).html,
      (await made('text', compiled, data)).text,
      await wordsOf(await made('pdf', compiled, data)),
      partsOf((await made('docx', compiled, data)).bytes)['word/document.xml'] ?? ''
    ]
    for (const page of pages) {
      for (const shown of ['0.3333', '€0.00012', '1.000000000001', '€0.000000000012', '€0.30']) {
        contains(t, page.replaceAll('&#8364;', '€'), shown, `${folder} ${shown}`)
      }
    }
    const sheets = Object.values(partsOf((await made('xlsx', compiled, data)).bytes)).join()
    for (const stored of ['0.3333', '0.00012', '1.000000000001', '0.000000000012', '0.3']) {
      contains(t, sheets, `<v>${stored}</v>`, `${folder} ${stored}`)
    }
  }
})

void t.test('an invoice shows discounts, charges and the tax by rate, and who the customer is', async (t) => {
  const lines = [
    { description: 'Book', quantity: 10, unitPrice: '10.00', taxRate: 5.5, total: '90.00', allowances: [{ percent: 10, reason: 'Club' }] },
    { description: 'Advice', quantity: 1, unitPrice: 200, taxRate: 20, total: 205, charges: [{ amount: 5, reason: 'Travel' }] }
  ]
  const data = {
    ...least,
    customer: { name: 'Ada', registration: { id: '404833048', scheme: '0002' } },
    lines,
    allowances: [{ percent: 10, reason: 'Loyalty', taxRate: 20 }],
    charges: [{ amount: 12, taxRate: 20 }],
    ...{ subtotal: 295, taxAmount: '42.45', total: '319.95' }
  }
  for (const folder of ['invoice', 'quote', 'credit-note']) {
    const { compiled, schema } = await shipped(folder)
    t.same(compileJsonSchema(schema)(data).ok, true)
    t.same(checkInvoice({ data, template: { documentType: folder }, today: '2026-03-14' }), { problems: [], warnings: [] })
    t.same(unreadFields(compiled.uses, data), [], folder)
    const { text } = await made('text', compiled, data)
    for (const shown of ['Club (10%): -€10.00', 'Travel: €5.00', 'Loyalty (10%)', '-€29.50', 'Surcharge', '€12.00', '€42.45', '€319.95',
      '€4.95', '€187.50', '€37.50', '404833048']) contains(t, text, shown, folder)
    const many = { ...data, allowances: Array.from({ length: 100 }, () => ({ amount: '0.01', reason: 'Cent' })) }
    t.equal((await wordsOf(await made('pdf', compiled, many))).split('Cent').length, 101, `${folder}: a hundred of them`)
  }
})

void t.test('an invoice whose prices include the tax says so', async (t) => {
  const data = {
    ...least,
    pricesIncludeTax: true,
    lines: [
      { description: 'Book', quantity: 3, unitPrice: '10.55', taxRate: 5.5, total: '31.65' },
      { description: 'Advice', quantity: 10, unitPrice: '13.33', taxRate: 20, total: '133.30' }
    ],
    ...{ subtotal: '141.08', taxAmount: '23.87', total: '164.95' }
  }
  for (const folder of ['invoice', 'quote', 'credit-note']) {
    const { compiled, schema } = await shipped(folder)
    t.same(compileJsonSchema(schema)(data).ok, true)
    t.same(unreadFields(compiled.uses, data), [], folder)
    const { text } = await made('text', compiled, data)
    for (const shown of ['Unit price with tax', 'Amount with tax', '€141.08', '€23.87', '€164.95', '€30.00', '€1.65', '€111.08',
      '€22.22'])
    {
      contains(t, text, shown, folder)
    }
    contains(t, (await made('text', compiled, { ...data, language: 'fr' })).text, 'P.U. TTC')
  }
})

void t.test('the page of a French e-invoice says the kind of its supply, and when VAT is due', async (t) => {
  const { compiled, sample } = await shipped('e-invoice')
  const text = async (more: object): Promise<string> =>
    (await wordsOf(await made('factur-x', compiled, { ...sample, language: 'fr', ...more }))).replaceAll(/\s+/g, ' ')
  const seller = { ...part(sample['seller']), country: 'FR' }
  const french = await text({ seller, businessProcess: 'M1', taxPointCode: '3' })
  contains(t, french, 'M1, livraison de biens et prestation')
  contains(t, french, 'd’après les débits')
  contains(t, await text({ businessProcess: 'urn:x', taxPointCode: '432' }), 'urn:x')
})

void t.test('every language that a template takes is one that its texts are in', (t) => {
  const tag = fc.oneof(fc.stringMatching(/^(en|fr|de|it|es|nl)(-[A-Za-z0-9]{2,8}){0,3}$/),
    fc.constantFrom('en', 'fr-CH', 'en-Latn-GB', 'fr-419'))
  const fits = templates.map((template) => ({ ...template, fit: compileJsonSchema(template.schema) }))
  fc.assert(fc.property(tag, (language) => {
    for (const { folder, sample, compiled, fit } of fits) {
      if (fit({ ...sample, language }).ok) t.doesNotThrow(() => compiled.resolve({ ...sample, language }), `${folder} ${language}`)
    }
  }))
  has(t,
    fits.map(({ sample, fit }) => ['en', 'en-GB', 'fr-CH', 'en-Latn-GB', 'fr-419'].every((language) => fit({ ...sample, language }).ok)),
    fits.map(() => true))
  t.end()
})

/** Every place in JSON, and the JSON with another value there (undefined: without it). */
function placesIn (value: unknown, at: readonly string[] = []): (readonly string[])[] {
  const own = Object.entries(isRecord(value) || Array.isArray(value) ? value : {})
  return own.flatMap(([name, inner]) => [[...at, name], ...placesIn(inner, [...at, name])])
}

function changed (value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown {
  if (name === undefined) return to
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) =>
      String(index) === name ? (rest.length === 0 && to === undefined ? [] : [changed(item, rest, to)]) : [item]
    )
  }
  if (!isRecord(value)) return value
  const { [name]: inner, ...others } = value
  return rest.length === 0 && to === undefined ? others : { ...others, [name]: changed(inner, rest, to) }
}

function faultsOf (run: () => unknown): string[] {
  try {
    run()
    return []
  } catch (error) {
    return [String(error)]
  }
}

void t.test('what fits the schema of a shared template can be put into it: that is why validation asks the schema alone', (t) => {
  const values = [
    undefined,
    null,
    '',
    'x',
    'javascript:x',
    'data:image/png;base64,AAAA',
    '2026-02-30',
    'XXX',
    0,
    -1,
    1e14,
    true,
    false,
    [],
    {}
  ]
  for (const { folder, compiled, schema, sample } of templates) {
    const fits = compileJsonSchema(schema)
    const fitting = placesIn(sample).flatMap((place) => values.map((value) => changed(sample, place, value))).filter((data) =>
      fits(data).ok
    )
    t.ok(fitting.length >= 10, `${folder}: ${fitting.length}`)
    t.strictSame([...new Set(fitting.flatMap((data) => faultsOf(() => compiled.resolve(data))))], [], folder)
  }
  t.end()
})

const languages = ['en', 'fr', 'de', 'it', 'es', 'nl']

void t.test('every template speaks the same languages, and says which it does not', (t) => {
  for (const { folder, source, schema, sample, compiled } of templates) {
    t.same(Object.keys(source.texts ?? {}), languages, folder)
    has(t, compileJsonSchema(schema)({ ...sample, language: 'pl' }), { ok: false, problems: [{ path: '/language' }] }, folder)
    t.throws(() => compiled.resolve({ ...sample, language: 'pl' }), /The template has no texts for "pl"/, folder)
    t.equal(compiled.resolve({ ...sample, language: 'en-US' }).title, compiled.resolve(sample).title, folder)
  }
  t.end()
})

void t.test('each language has words of its own, which are shown whole', async (t) => {
  for (const { folder, sample, compiled } of templates) {
    const shown = await Promise.all(languages.map(async (language) => (await made('text', compiled, { ...sample, language })).text))
    t.equal(new Set(shown).size, languages.length, folder)
    for (const text of shown) lacks(t, text, /undefined|\bnull\b|NaN|\{\{|\{%|%\}/, folder)
  }
})

const vocabularies = templates.filter(({ vocabulary }) => vocabulary === 'invoice')

for (const { folder, samples, compiled } of vocabularies) {
  for (const [name, data] of Object.entries(samples)) {
    void t.test(`${folder}, ${name}: it fills one page, and its amounts keep the rules`, async (t) => {
      t.equal((await made('pdf', compiled, data)).pages, 1)
      t.same(checkInvoice({ data: JSON.parse(JSON.stringify(data)), template: {}, today: '2026-02-01' }), { problems: [], warnings: [] })
    })
  }
}

for (const { folder, sample, schema, compiled } of vocabularies.filter(({ documentType }) => documentType !== 'E_INVOICE')) {
  const fit = compileJsonSchema(schema)

  void t.test(`${folder}: the sample shows who deals with whom, and the amounts`, async (t) => {
    const words = await wordsOf(await made('pdf', compiled, sample))
    for (const text of [
      sample['number'],
      sample['notes'],
      part(sample['customer'])['name'],
      part(sample['seller'])['vatId'],
      'Germany',
      '20%',
      'Page 1 of 1'
    ]) t.ok(words.includes(String(text)), String(text))
  })

  void t.test(`${folder}: the amounts of the sample are right`, (t) => {
    const { lines, subtotal, taxRate, taxAmount, total } = sample
    if (!Array.isArray(lines)) throw new TypeError('expected lines')
    const amounts = lines.map(part).map(
      ({ quantity, unitPrice, total }) => [new Decimal(Number(quantity)).times(String(unitPrice)).toFixed(2), total]
    )
    for (const [expected, given] of amounts) t.equal(given, expected)
    const sum = Decimal.sum(...amounts.map(([, given]) => String(given)))
    t.equal(subtotal, sum.toFixed(2))
    t.equal(taxAmount, sum.times(Number(taxRate)).div(100).toFixed(2))
    t.equal(total, sum.plus(String(taxAmount)).toFixed(2))
    t.end()
  })

  void t.test(`${folder}: what is optional leaves no hole`, async (t) => {
    has(t, fit(least), { ok: true })
    const pages = await pagesOf(await made('pdf', compiled, least))
    const words = pages.flat().map(({ text }) => text)
    t.equal(pages.length, 1)
    for (const label of ['Tax', 'Subtotal', 'Bank details', 'Refund to', 'Notes', 'Reference', 'Due date', 'Valid until', 'Scan to pay']) {
      t.notOk(words.includes(label), label)
    }
    contains(t, words.join(' '), /€3\.00/)
  })

  void t.test(`${folder}: every field of the schema is shown somewhere`, (t) => {
    const properties = part(schema['properties'])
    const data = Object.fromEntries(Object.keys(properties).map((name) => [name, 'x']))
    t.same(unreadFields(compiled.uses, data), [])
    t.end()
  })

  void t.test(`${folder}: unknown fields pass the schema, missing and wrong ones do not`, (t) => {
    has(t, fit({ ...least, other: 1 }), { ok: true })
    has(t, fit({ ...least, customer: {} }), { ok: false, problems: [{ path: '/customer/name' }] })
    has(t, fit({ ...least, lines: [] }), { ok: false, problems: [{ path: '/lines' }] })
    for (const name of Object.keys(least)) has(t, fit(without(least, name)), { ok: false, problems: [{ path: `/${name}` }] }, name)
    for (const total of ['12,50', '1e5', 'NaN', 1e16, true, '', null]) has(t, fit({ ...least, total }), { ok: false }, String(total))
    for (const total of ['12.50', -5, '0.0001', 1e15]) has(t, fit({ ...least, total }), { ok: true }, String(total))
    for (const date of ['14.03.2026', '2026-02-30', '']) has(t, fit({ ...least, date }), { ok: false }, date)
    t.end()
  })

  void t.test(`${folder}: 300 lines and a long description keep their order`, async (t) => {
    const lines = Array.from({ length: 300 },
      (_, index) => ({ description: index === 7 ? 'word '.repeat(400) : `Line ${String(index)}.`, quantity: 1, unitPrice: 1, total: 1 }))
    const pages = await pagesOf(await made('pdf', compiled, { ...sample, lines }))
    const found = pages.flat().map(({ text }) => /^Line (\d+)\.$/.exec(text)?.[1]).filter((number) => number !== undefined).map(Number)
    t.same(found, Array.from({ length: 300 }, (_, index) => index).filter((index) => index !== 7))
    t.equal(pages.flat().filter(({ text }) => text === 'Description').length, pages.filter((page) =>
      page.some(({ text }) => text.startsWith('Line'))
    ).length)
    for (const page of pages.slice(1)) {t.ok(page[0]?.text === 'Northwind Consulting Ltd' && (page[0].y < 60),
        'the pages after the first say whose they are')}
  })

  void t.test(`${folder}: names without end leave the address in its window`, async (t) => {
    const seller = {
      ...part(sample['seller']),
      name: 'Gesellschaft für lange Namen '.repeat(10).trim(),
      address: 'a'.repeat(300),
      email: `${'b'.repeat(200)}@example.com`
    }
    const words = await wordsOf(
      await made('pdf', compiled, {
        ...sample,
        seller,
        customer: { ...part(sample['customer']), name: 'Université Paris-Est-Créteil '.repeat(6).trim() }
      })
    )
    contains(t, words, /Université Paris-Est-Créteil/)
    t.ok((words.match(/Gesellschaft/g)?.length ?? 0) > 10, 'all of the name stands at the foot, what has room of it in the letterhead')
  })

  void t.test(`${folder}: the window is that of the country that it is sent from`, async (t) => {
    const recipientIn = async (country: string) => {
      const [page = []] = await pagesOf(await made('pdf', compiled, { ...sample, seller: { ...part(sample['seller']), country } }))
      return page.find(({ text }) => text === 'Müller & Söhne GmbH')?.x ?? NaN
    }
    t.ok(await recipientIn('DE') < 200)
    t.ok(await recipientIn('FR') > 300)
  })
}

void t.test('invoice: what is due can be paid by scanning, unless it is not in euros', async (t) => {
  const { compiled, sample } = await shipped('invoice')
  const codes = (data: object) => JSON.stringify(compiled.resolve(data).body).match(/"kind":"code"/g)?.length ?? 0
  t.equal(codes(sample), 1)
  t.equal(codes({ ...sample, currency: 'USD' }), 0)
  t.equal(codes(without(sample, 'bankDetails')), 0)
})

void t.test('invoice: the law of France has its lines where the data have them', async (t) => {
  const { compiled, samples } = await shipped('invoice')
  const words = await wordsOf(await made('pdf', compiled, samples['sample.fr']))
  for (const text of ['SIREN 732829320', 'TVA FR44732829320', 'SAS au capital de 50 000 €', 'pénalités', 'Indemnité forfaitaire',
    'Pas d\'escompte', 'Net à payer']) t.ok(words.includes(text), text)
})

void t.test('a draft says so across the page', async (t) => {
  for (const [language, word] of [['en-GB', 'DRAFT'], ['fr', 'PROJET'], ['de', 'ENTWURF']] as const) {
    const { compiled, sample } = await shipped('quote')
    contains(t, await wordsOf(await made('pdf', compiled, { ...sample, language, draft: true })), new RegExp(word))
  }
})

void t.test('e-invoice: the samples keep every rule of EN 16931, in every format', async (t) => {
  const { compiled, samples } = await shipped('e-invoice')
  for (const [name, data] of Object.entries(samples)) {
    for (const format of ['FACTUR_X', 'UBL', 'CII'] as const) {
      // Peppol cannot say the business process of a French invoice.
      const eInvoiceProfile = 'EN16931'
      t.same(checkEInvoice({ ...JSON.parse(JSON.stringify(data)), eInvoiceProfile }, { format, currency: 'EUR', rules: 'FRANCE' }, ''), {
        problems: [],
        warnings: []
      }, `${name} as ${format}`)
    }
    const pdf = await made('factur-x', compiled, data)
    t.equal(pdf.pages, 1)
    contains(t, Buffer.from(pdf.bytes).toString('latin1'), 'factur-x.xml')
  }
})

void t.test('e-invoice: sums that the data leave out are on the page, and a credit note is called one', async (t) => {
  const { compiled, sample } = await shipped('e-invoice')
  const bare = ['subtotal', 'taxes', 'taxAmount', 'total', 'amountDue'].reduce(without, sample)
  t.equal(await wordsOf(await made('factur-x', compiled, bare)), await wordsOf(await made('factur-x', compiled, sample)))
  const credit = { ...sample, type: 381, precedingInvoices: [{ number: '2026-0100', date: '2026-02-01' }] }
  contains(t, await wordsOf(await made('pdf', compiled, credit)), /Credit note .*2026-0100/)
})

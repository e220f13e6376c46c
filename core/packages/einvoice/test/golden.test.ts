import { readFile } from 'node:fs/promises'
import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { checkEInvoice } from '../rules/check.ts'
import { misplaced } from './sequences.ts'
import { cii, ciiText, plain, ubl, ublText } from './support.ts'
import { all, textAt } from './xml.ts'

const [tea] = plain.lines
const registered = { registration: { id: '732829320', scheme: '0002' } }

function one (tax: JsonObject, more: JsonObject = {}): JsonObject {
  return { ...plain, lines: [{ description: tea.description, quantity: tea.quantity, unitPrice: tea.unitPrice, ...tax }], ...more }
}

/** A party with a registration and without a VAT number. */
function without (party: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...party, ...registered }).filter(([name]) => name !== 'vatId'))
}

/** One invoice for each VAT category, and the special cases. */
const invoices: Readonly<Record<string, JsonObject>> = {
  S: plain,
  Z: one({ taxCategory: 'Z' }),
  E: one({ taxCategory: 'E', taxExemptionCode: 'VATEX-EU-132-1I', taxExemptionReason: 'Education' }),
  AE: one({ taxCategory: 'AE' }),
  K: one({ taxCategory: 'K' }, { delivery: { date: '2026-03-12', country: 'ES' } }),
  G: one({ taxCategory: 'G' }),
  O: one({ taxCategory: 'O' }, { seller: without(plain.seller), customer: without(plain.customer) }),
  L: one({ taxCategory: 'L', taxRate: 7 }),
  M: one({ taxCategory: 'M', taxRate: 4 }),
  'credit-note': {
    ...plain,
    type: 381,
    precedingInvoices: [{ number: 'F-0', date: '2026-02-01' }],
    projectReference: 'P',
    tenderReference: 'T'
  },
  'foreign-currency': { ...plain, currency: 'USD', taxCurrency: 'EUR', taxCurrencyAmount: '3.70' },
  'four-rates': {
    ...plain,
    lines: ['20', '10', '5.5', '2.1'].map((taxRate) => ({ ...tea, taxRate })),
    allowances: [{ percent: 10, reason: 'Loyal & old', taxRate: 20 }],
    charges: [{ amount: 5, reasonCode: 'FC', taxRate: '5.5' }],
    prepaidAmount: 10,
    roundingAmount: '-0.01'
  },
  'direct-debit': {
    ...plain,
    payment: { mandate: { reference: 'M-1', creditorId: 'FR72ZZZ123456', account: 'ES9121000418450200051332' } },
    bankDetails: { iban: 'FR7630006000011234567890189' }
  }
}

for (const [name, data] of Object.entries(invoices)) {
  void t.test(`${name}: the rules have nothing to say, and the XML is this`, async (t) => {
    for (const format of ['UBL', 'CII', 'FACTUR_X'] as const) {
      t.strictSame(checkEInvoice(data, { format, currency: 'EUR' }, '').problems, [])
    }
    t.strictSame([...misplaced(ubl(data), 'ubl'), ...misplaced(cii(data), 'cii')], [])
    t.equal(pretty(ublText(data)), await golden(`${name}.ubl.xml`))
    t.equal(pretty(ciiText(data)), await golden(`${name}.cii.xml`))
  })
}

async function golden (name: string): Promise<string> {
  return await readFile(new URL(`golden/${name}`, import.meta.url), 'utf8')
}

/** One element per line, so that differences are readable. */
function pretty (xml: string): string {
  return xml.replaceAll(/>(?=<(?!\/))/g, '>\n').replaceAll(/(<\/[^>]+>)(?=<\/)/g, '$1\n')
}

void t.test('300 lines are numbered, and summed up exactly', (t) => {
  const lines = Array.from({ length: 300 },
    (_, index) => ({ description: `Line ${index}`, quantity: 3, unitPrice: '0.335', taxRate: index % 2 === 0 ? 20 : '5.5' }))
  const data = { ...plain, lines }
  t.strictSame(checkEInvoice(data, { format: 'UBL', currency: 'EUR' }, '').problems, [])
  const root = ubl(data)
  t.equal(all(root, 'InvoiceLine').length, 300)
  t.equal(all(root, 'InvoiceLine/ID').at(-1)?.text, '300')
  // 3 × 0.335 = 1.005, which is 1.01 on a line; 150 lines of each rate.
  t.equal(textAt(root, 'LegalMonetaryTotal/LineExtensionAmount'), '303.00')
  t.strictSame(all(root, 'TaxTotal/TaxSubtotal/TaxAmount').map(({ text }) => text), ['30.30', '8.33'])
  t.equal(textAt(root, 'LegalMonetaryTotal/PayableAmount'), '341.63')
  t.end()
})

void t.test('what people write cannot change the XML around it', (t) => {
  const awkward = ']]><x a="1">&amp;\'\u0000\u0008\uFFFE</x>'
  const root = ubl({ ...plain, notes: awkward, customer: { ...plain.customer, name: awkward } })
  t.equal(textAt(root, 'Note'), ']]><x a="1">&amp;\'</x>')
  t.equal(textAt(root, 'AccountingCustomerParty/Party/PartyLegalEntity/RegistrationName'), ']]><x a="1">&amp;\'</x>')
  t.end()
})

void t.test('a yen has no decimals: VAT is rounded to whole ones', (t) => {
  const root = ubl({ ...plain, currency: 'JPY', lines: [{ description: 'Tea', quantity: 1, unitPrice: 333, taxRate: 10 }] })
  t.equal(textAt(root, 'TaxTotal/TaxAmount'), '33.00')
  t.end()
})

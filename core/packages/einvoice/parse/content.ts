import { profiles } from '../model/profiles.ts'
import { nodesAt } from './fields.ts'
import type { XmlNode } from './xml.ts'

/**
 * A rule about what stands in an element, each at a path or the root where the path is empty; several paths are separated by a bar. `at`:
 * the pointer into the data, `*` the number of the element.
 */
export type ContentRule = { id: string, within: string, at: string, message: string, holds: (node: XmlNode, root: XmlNode) => boolean }

const supplier = 'cac:AccountingSupplierParty/cac:Party'
const customer = 'cac:AccountingCustomerParty/cac:Party'
const named = 'cac:PartyName/cbc:Name'

const has = (node: XmlNode, path: string): boolean => nodesAt(node, path).length > 0
const textAt = (node: XmlNode, path: string): string => nodesAt(node, path)[0]?.text.trim() ?? ''

/** The country of the seller, as Peppol's rules find it. */
function sellerCountry (root: XmlNode): string {
  const vat = 'cac:PartyTaxScheme[cac:TaxScheme/cbc:ID=VAT]/cbc:CompanyID'
  const numbers = [`${supplier}/${vat}`, `cac:TaxRepresentativeParty/${vat}`].map((path) => textAt(root, path).slice(0, 2).toUpperCase())
  return numbers.find((country) => country !== '') ?? countryOf(root, supplier)
}

function countryOf (root: XmlNode, party: string): string {
  return textAt(root, `${party}/cac:PostalAddress/cac:Country/cbc:IdentificationCode`)
}

/** Whether the addresses of seller and customer are in Germany. */
export function isGerman (root: XmlNode): boolean {
  return [supplier, customer].every((party) => countryOf(root, party) === 'DE')
}

/** The name of a party, which Greek sellers give for both. */
function greekName (id: string, party: string, at: string, message: string): ContentRule {
  return {
    id,
    within: party,
    at,
    message,
    holds: (node, root) => !['GR', 'EL'].includes(sellerCountry(root)) || textAt(node, named) !== ''
  }
}

/** Of UBL in every profile. */
export const ublContent: readonly ContentRule[] = [
  {
    id: 'UBL-SR-43',
    within: 'cac:AdditionalDocumentReference',
    at: '/attachments',
    message: 'Only the invoiced object (130), and in a credit note the project (50), have a type; only an object has a scheme (BT-18).',
    holds: (node, { name }) => {
      const type = textAt(node, 'cbc:DocumentTypeCode')
      return type === '130' || (name === 'CreditNote' && type === '50') ||
        (!has(node, 'cbc:DocumentTypeCode') && nodesAt(node, 'cbc:ID').every(({ attributes }) => !attributes.has('schemeID')))
    }
  }
]

const [ublAdjustments, ublPrices] = ['cac:AllowanceCharge', 'cac:Price/cac:AllowanceCharge'].map((path) =>
  [...path === 'cac:AllowanceCharge' ? [path] : [], `cac:InvoiceLine/${path}`, `cac:CreditNoteLine/${path}`].join(' | ')
) as [string, string]
const [settlement, line] = ['ApplicableHeaderTradeSettlement', 'IncludedSupplyChainTradeLineItem'].map((name) =>
  `rsm:SupplyChainTradeTransaction/ram:${name}`
) as [string, string]
const ciiAdjustments = [settlement, `${line}/ram:SpecifiedLineTradeSettlement`].map((of) => `${of}/ram:SpecifiedTradeAllowanceCharge`)
  .join(' | ')
const ciiPrices = `${line}/ram:SpecifiedLineTradeAgreement/ram:GrossPriceProductTradePrice/ram:AppliedTradeAllowanceCharge`
const indicator = 'An indicator is the word true or false.'
const isWord = (text: string): boolean => text === 'true' || text === 'false'
const basis = { id: 'PEPPOL-EN16931-R041', at: '', message: 'A percentage needs its base amount.' }
const charge = { id: 'PEPPOL-EN16931-R044', at: '', message: 'A price has a discount, and no charge: its indicator is the word false.' }
const inOtherCurrency = {
  id: 'PEPPOL-EN16931-R054',
  at: '/taxCurrencyAmount',
  message: 'The VAT without rates is there once where there is a currency of VAT accounting, and not at all otherwise (BT-111).'
}

/** Of Peppol and XRechnung. */
export const sharedContent: Readonly<Record<'UBL' | 'CII', readonly ContentRule[]>> = {
  UBL: [
    { ...basis, within: ublAdjustments, holds: (node) => !has(node, 'cbc:MultiplierFactorNumeric') || has(node, 'cbc:BaseAmount') },
    {
      id: 'PEPPOL-EN16931-R043',
      within: ublAdjustments,
      at: '',
      message: indicator,
      holds: (node) => isWord(textAt(node, 'cbc:ChargeIndicator'))
    },
    { ...charge, within: ublPrices, holds: (node) => textAt(node, 'cbc:ChargeIndicator') === 'false' },
    {
      id: 'PEPPOL-EN16931-R053',
      within: '',
      at: '/taxAmount',
      message: 'The VAT is broken down by rate in one place (BG-23).',
      holds: (root) => nodesAt(root, 'cac:TaxTotal').filter((total) => has(total, 'cac:TaxSubtotal')).length === 1
    },
    {
      ...inOtherCurrency,
      within: '',
      holds: (root) =>
        nodesAt(root, 'cac:TaxTotal').filter((total) => !has(total, 'cac:TaxSubtotal')).length ===
          (has(root, 'cbc:TaxCurrencyCode') ? 1 : 0)
    }
  ],
  CII: [
    { ...basis, within: ciiAdjustments, holds: (node) => !has(node, 'ram:CalculationPercent') || has(node, 'ram:BasisAmount') },
    ...([['R043-1', ciiAdjustments], ['R043-2', ciiPrices]] as const).map(([number, within]) => ({
      id: `PEPPOL-EN16931-${number}`,
      within,
      at: '',
      message: indicator,
      holds: (node: XmlNode) => isWord(textAt(node, 'ram:ChargeIndicator/udt:Indicator'))
    })),
    {
      ...charge,
      within: ciiPrices,
      holds: (node) => !has(node, 'ram:ActualAmount') || textAt(node, 'ram:ChargeIndicator/udt:Indicator') === 'false'
    },
    {
      id: 'PEPPOL-EN16931-R053',
      within: settlement,
      at: '/taxAmount',
      message: 'The VAT stands there once in the currency of the invoice (BT-110).',
      holds: (node) => taxesIn(node, (isOwn) => isOwn) <= 1
    },
    {
      ...inOtherCurrency,
      within: settlement,
      holds: (node) => taxesIn(node, (isOwn) => !isOwn) === (has(node, 'ram:TaxCurrencyCode') ? 1 : 0)
    }
  ]
}

/** How many sums of VAT a CII has of those that are chosen: in the currency of the invoice, or in another one. */
function taxesIn (node: XmlNode, chosen: (isOwn: boolean) => boolean): number {
  const currency = textAt(node, 'ram:InvoiceCurrencyCode')
  return nodesAt(node, 'ram:SpecifiedTradeSettlementHeaderMonetarySummation/ram:TaxTotalAmount')
    .filter(({ attributes }) => attributes.has('currencyID') && chosen(attributes.get('currencyID') === currency)).length
}

/** Of XRechnung in CII. */
export const xrechnungContent: readonly ContentRule[] = [
  {
    id: 'BR-TMP-3',
    within: line,
    at: '/lines/*/grossPriceQuantity',
    message: 'In XRechnung the quantities of both prices of a line are written alike (BT-149).',
    holds: (node) => {
      const [gross, net] = ['Gross', 'Net'].map((kind) =>
        textAt(node, `ram:SpecifiedLineTradeAgreement/ram:${kind}PriceProductTradePrice/ram:BasisQuantity`)
      )
      // The rule about the data tells other numbers.
      return gross === '' || net === '' || gross === net || Number(gross) !== Number(net)
    }
  }
]

/** Of Peppol BIS Billing 3. */
export const peppolContent: readonly ContentRule[] = [
  {
    id: 'PEPPOL-EN16931-R002',
    within: '',
    at: '/notes',
    message: 'An invoice has one note, unless both parties are German (BG-1).',
    holds: (root) => nodesAt(root, 'cbc:Note').length <= 1 || isGerman(root)
  },
  {
    id: 'PEPPOL-EN16931-R004',
    within: '',
    at: '/eInvoiceProfile',
    message: `The specification (BT-24) begins with ${profiles.PEPPOL.specification}.`,
    holds: (root) => textAt(root, 'cbc:CustomizationID').startsWith(profiles.PEPPOL.specification)
  },
  {
    id: 'PEPPOL-EN16931-R007',
    within: '',
    at: '/businessProcess',
    message: `The business process (BT-23) is one of ${profiles.PEPPOL.processes?.join(', ')}.`,
    holds: (root) => !has(root, 'cbc:ProfileID') || profiles.PEPPOL.processes?.includes(textAt(root, 'cbc:ProfileID')) === true
  },
  greekName('GR-R-002', supplier, '/seller/name', 'A Greek seller gives its full name (PartyName).'),
  greekName('GR-R-005', customer, '/customer/name', 'A Greek seller gives the full name of its customer (PartyName).')
]

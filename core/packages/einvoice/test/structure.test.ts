import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { readInvoice, writeInvoice } from '../index.ts'
import { profiles } from '../model/profiles.ts'
import { peppolContent, sharedContent, ublContent, xrechnungContent } from '../parse/content.ts'
import { bans, ciiStructure, germanStructure, peppolStructure, sharedStructure, ublStructure,
  xrechnungStructure } from '../parse/structure-tables.ts'
import { plain } from './support.ts'

const data = {
  ...plain,
  currency: 'EUR',
  contractReference: 'C-1',
  paymentTerms: '30 days',
  payment: { means: 30, reference: 'F-1' },
  bankDetails: { iban: 'FR7630006000011234567890189' },
  period: { start: '2026-03-01', end: '2026-03-31' }
}
const addressed = {
  ...data,
  seller: { ...plain.seller, electronicAddress: { id: '1', scheme: '9957' } },
  customer: { ...plain.customer, electronicAddress: { id: '1', scheme: '9920' } }
}
const someone = { city: 'Bonn', postalCode: '53111' }
const [ubl, cii, peppol] = [
  writeInvoice(data, 'EN16931', 'UBL'),
  writeInvoice(data, 'EN16931', 'CII'),
  writeInvoice(addressed, 'PEPPOL')
]

const german = {
  ...data,
  seller: {
    ...plain.seller,
    ...someone,
    electronicAddress: { id: 'a@example.com', scheme: 'EM' },
    contact: 'A',
    phone: '+49 123',
    email: 'a@b.de'
  },
  customer: { ...plain.customer, ...someone, electronicAddress: { id: 'c@example.com', scheme: 'EM' } },
  buyerReference: 'B-1',
  lines: plain.lines.map((one) => ({
    ...one,
    priceQuantity: 1,
    grossPrice: one.unitPrice,
    allowances: [{ amount: '0.00', percent: 0, base: '1.00', reason: 'A' }]
  }))
}
const xrechnung = { UBL: writeInvoice(german, 'XRECHNUNG', 'UBL'), CII: writeInvoice(german, 'XRECHNUNG', 'CII') }

const tables = [ublStructure, ciiStructure, peppolStructure, germanStructure, ...Object.values(xrechnungStructure),
  ...Object.values(sharedStructure)]
  .flat()
const known = new Set([
  'PEPPOL-EN16931-R010',
  'PEPPOL-EN16931-R020',
  ...[...ublContent, ...peppolContent, ...xrechnungContent, ...Object.values(sharedContent).flat()].map(({ id }) => id),
  ...tables.map(({ id }) => id),
  'PEPPOL-EN16931-R051',
  'PEPPOL-EN16931-R130',
  ...bans.flatMap(({ names }) => names.map(([id]) => id)),
  'PEPPOL-EN16931-R008'
])
/** The rules of structure that a file breaks, with their elements. */
const broken = (xml: string): string[] =>
  readInvoice(Buffer.from(xml)).problems.flatMap(({ code, element }) => known.has(code) ? [`${code} ${element}`] : [])
const twice = (xml: string, element: string): string => xml.replace(new RegExp(`<${element}[ >][^]*?</${element}>`), '$&$&')

void t.test('what stands too often, not at all or in the wrong place breaks a rule, at its element', (t) => {
  const party = '/Invoice/cac:AccountingSupplierParty/cac:Party'
  const line = '/Invoice/cac:InvoiceLine'
  const settlement = '/rsm:CrossIndustryInvoice/rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement'
  const cases: [string, string][] = [
    [twice(ubl, 'cac:ContractDocumentReference'), 'UBL-SR-01 /Invoice/cac:ContractDocumentReference[2]/cbc:ID'],
    [twice(ubl, 'cac:PaymentTerms'), 'UBL-SR-05 /Invoice/cac:PaymentTerms[2]/cbc:Note'],
    [twice(ubl, 'cac:PartyLegalEntity'), `UBL-SR-09 ${party}/cac:PartyLegalEntity[2]/cbc:RegistrationName`],
    [twice(ubl, 'cac:ClassifiedTaxCategory'), `UBL-SR-48 ${line}/cac:Item/cac:ClassifiedTaxCategory[2]`],
    [ubl.replace(/<cac:ClassifiedTaxCategory>[^]*?<\/cac:ClassifiedTaxCategory>/, ''), `UBL-SR-48 ${line}`],
    [
      ubl.replace(/<cac:PaymentMeans>[^]*?<\/cac:PaymentMeans>/, (means) => means + means.replace('>30<', '>31<')),
      'UBL-SR-47 /Invoice/cac:PaymentMeans[2]/cbc:PaymentMeansCode'
    ],
    [ubl.replace('<cbc:CompanyID>FR39732829320</cbc:CompanyID>', ''), `UBL-SR-53 ${party}/cac:PartyTaxScheme`],
    [peppol.replace('<cbc:IssueDate>', '<cbc:UUID/><cbc:IssueDate>'), 'PEPPOL-EN16931-R008 /Invoice/cbc:UUID'],
    [peppol.replace('<cbc:ProfileID>', '<cbc:UUID>').replace('</cbc:ProfileID>', '</cbc:UUID>'), 'PEPPOL-EN16931-R001 /Invoice'],
    [
      peppol.replace(/(<cbc:LineExtensionAmount currencyID=")EUR/, '$1USD'),
      'PEPPOL-EN16931-R051 /Invoice/cac:LegalMonetaryTotal/cbc:LineExtensionAmount'
    ],
    [
      peppol.replace('</cbc:PriceAmount>', '</cbc:PriceAmount><cbc:BaseQuantity unitCode="KGM">1</cbc:BaseQuantity>'),
      `PEPPOL-EN16931-R130 ${line}/cac:Price/cbc:BaseQuantity`
    ],
    [
      peppol.replaceAll(/<cbc:IdentificationCode>(FR|ES)</g, '<cbc:IdentificationCode>DE<').replace('>30<', '>59<'),
      'DE-R-025-2 /Invoice/cac:PaymentMeans/cac:PayeeFinancialAccount'
    ],
    [
      ubl.replace('<cac:AccountingSupplierParty>',
        '<cac:AdditionalDocumentReference><cbc:ID schemeID="A">1</cbc:ID></cac:AdditionalDocumentReference><cac:AccountingSupplierParty>'),
      'UBL-SR-43 /Invoice/cac:AdditionalDocumentReference'
    ],
    [peppol.replace('<cbc:DocumentCurrencyCode>', '<cbc:Note>a</cbc:Note><cbc:Note>b</cbc:Note>$&'), 'PEPPOL-EN16931-R002 /Invoice'],
    [peppol.replace('urn:cen.eu:en16931:2017#compliant#', ''), 'PEPPOL-EN16931-R004 /Invoice'],
    [peppol.replace('billing:01:1.0</cbc:ProfileID>', 'billing:1:1.0</cbc:ProfileID>'), 'PEPPOL-EN16931-R007 /Invoice'],
    [
      peppol.replace('<cac:Item>',
        '<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator><cbc:MultiplierFactorNumeric>5</cbc:MultiplierFactorNumeric>' +
          '<cbc:Amount currencyID="EUR">1</cbc:Amount></cac:AllowanceCharge><cac:Item>'),
      `PEPPOL-EN16931-R041 ${line}/cac:AllowanceCharge`
    ],
    [twice(peppol, 'cac:TaxTotal'), 'PEPPOL-EN16931-R053 /Invoice'],
    [peppol.replace('<cbc:BuyerReference>', '<cbc:TaxCurrencyCode>USD</cbc:TaxCurrencyCode>$&'), 'PEPPOL-EN16931-R054 /Invoice'],
    [
      peppol.replace('<cac:Item>', `${'<cac:DocumentReference><cbc:ID>1</cbc:ID></cac:DocumentReference>'.repeat(2)}<cac:Item>`),
      `PEPPOL-EN16931-R100 ${line}/cac:DocumentReference[2]`
    ],
    [peppol.replace('<cbc:CompanyID>FR', '<cbc:CompanyID>EL'), `GR-R-002 ${party}`],
    [peppol.replace('<cbc:CompanyID>FR', '<cbc:CompanyID>EL'), 'GR-R-005 /Invoice/cac:AccountingCustomerParty/cac:Party'],
    [twice(cii, 'ram:PaymentReference'), `CII-SR-469 ${settlement}/ram:PaymentReference[2]`],
    [
      twice(cii, 'ram:GrandTotalAmount'),
      `CII-SR-482 ${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation/ram:GrandTotalAmount[2]`
    ],
    [
      cii.replace('<ram:GrandTotalAmount>', '<ram:GrandTotalAmount currencyID="EUR">'),
      `CII-DT-031 ${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation/ram:GrandTotalAmount`
    ],
    [
      cii.replace('<ram:CityName>', '<ram:BuildingName>A</ram:BuildingName><ram:CityName>'),
      'CII-DT-084 /rsm:CrossIndustryInvoice/rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeAgreement/ram:SellerTradeParty/' +
      'ram:PostalTradeAddress/ram:BuildingName'
    ]
  ]
  const price = 'ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice'
  const delivery = '<ram:ApplicableHeaderTradeDelivery>'
  const [inUbl, inCii] = ['/Invoice/cac:InvoiceLine',
    '/rsm:CrossIndustryInvoice/rsm:SupplyChainTradeTransaction/ram:IncludedSupplyChainTradeLineItem']
  cases.push(
    [xrechnung.UBL.replace(/<cbc:ProfileID>[^]*?<\/cbc:ProfileID>/, ''), 'PEPPOL-EN16931-R001 /Invoice'],
    [xrechnung.UBL.replace(/<cbc:EndpointID[^]*?<\/cbc:EndpointID>/, ''), `PEPPOL-EN16931-R020 ${party}`],
    [xrechnung.UBL.replace(/(<cbc:BaseQuantity unitCode=")[^"]+/, '$1KGM'), `PEPPOL-EN16931-R130 ${inUbl}/cac:Price/cbc:BaseQuantity`],
    [xrechnung.UBL.replace('<cbc:IssueDate>', '<cbc:UUID/><cbc:IssueDate>'), 'PEPPOL-EN16931-R008 /Invoice/cbc:UUID'],
    [xrechnung.UBL.replace('>false</cbc:ChargeIndicator>', '>0</cbc:ChargeIndicator>'), `PEPPOL-EN16931-R043 ${inUbl}/cac:AllowanceCharge`],
    [
      xrechnung.CII.replace(
        /<ram:BusinessProcessSpecifiedDocumentContextParameter>[^]*?<\/ram:BusinessProcessSpecifiedDocumentContextParameter>/,
        ''
      ),
      'PEPPOL-EN16931-R001 /rsm:CrossIndustryInvoice/rsm:ExchangedDocumentContext'
    ],
    [xrechnung.CII.replace(/(<ram:BasisQuantity unitCode=")[^"]+(?=">1<\/ram:BasisQuantity><\/ram:Net)/, '$1KGM'),
      `PEPPOL-EN16931-R130 ${inCii}/${price}/ram:BasisQuantity`],
    [xrechnung.CII.replace('<ram:BasisAmount>1.00</ram:BasisAmount>', ''),
      `PEPPOL-EN16931-R041 ${inCii}/ram:SpecifiedLineTradeSettlement/ram:SpecifiedTradeAllowanceCharge`],
    [
      xrechnung.CII.replace(delivery.replace('>', '/>'), `${delivery}<ram:ShipFromTradeParty/>${delivery.replace('<', '</')}`),
      `PEPPOL-EN16931-R008 ${inCii.replace('IncludedSupplyChainTradeLineItem', 'ApplicableHeaderTradeDelivery')}/ram:ShipFromTradeParty`
    ],
    [
      xrechnung.CII.replace(/(<ram:TaxTotalAmount)[^>]*>([^<]*)<\/ram:TaxTotalAmount>/,
        '$1 currencyID="EUR">$2</ram:TaxTotalAmount>$1 currencyID="USD">$2</ram:TaxTotalAmount>'),
      `PEPPOL-EN16931-R054 ${settlement}`
    ]
  )
  for (const [xml, expected] of cases) t.ok(broken(xml).includes(expected), `${expected}: ${broken(xml).join(', ')}`)
  t.end()
})

void t.test('the quantities of both prices of a line are written alike in XRechnung, and each is told at its own place', (t) => {
  const inGross = (quantity: string): string[] =>
    readInvoice(Buffer.from(xrechnung.CII.replace(/<ram:BasisQuantity.*?<\/ram:BasisQuantity>/s, quantity)))
      .problems.flatMap(({ code, path }) => known.has(code) ? [`${code} ${path}`] : [])
  const quantity = (of: string, unit = 'C62'): string => `<ram:BasisQuantity unitCode="${unit}">${of}</ram:BasisQuantity>`
  const place = '/lines/0/grossPriceQuantity'
  t.strictSame(inGross(quantity('1')), [])
  t.strictSame(inGross(''), [])
  t.strictSame(inGross(quantity('1.0000')), [`BR-TMP-3 ${place}`])
  t.strictSame(inGross(quantity('10')), [`BR-TMP-3 ${place}`], 'told once')
  t.strictSame(inGross(quantity('1', 'KGM')), [`PEPPOL-EN16931-R130 ${place}`])
  t.end()
})

void t.test('what this package writes breaks none of them, and an extended profile has its own', async (t) => {
  for (const xml of [ubl, cii, peppol, ...Object.values(xrechnung)]) t.strictSame(broken(xml), [])
  for (const process of profiles.PEPPOL.processes ?? []) {
    const xml = writeInvoice({ ...addressed, businessProcess: process }, 'PEPPOL')
    t.ok(xml.includes(`<cbc:ProfileID>${process}</cbc:ProfileID>`), process)
    t.strictSame(broken(xml), [], process)
  }
  for (const path of globSync('golden/*.xml', { cwd: import.meta.dirname })) {
    t.strictSame(broken(await readFile(`${import.meta.dirname}/${path}`, 'utf8')), [], path)
  }
  const extended = writeInvoice(data, 'EXTENDED').replace('<ram:GrandTotalAmount>', '<ram:GrandTotalAmount currencyID="EUR">')
  t.strictSame(broken(extended), [])
})

void t.test('each rule has a path that is read, and a sentence with a subject', (t) => {
  for (const { id, what, within, path, least, max } of tables) {
    contains(t, what, /^[A-Z][^.]+$/)
    contains(t, `${within}/${path}`, /(cac|cbc|ram):/)
    t.ok(least !== undefined || max !== undefined, id)
  }
  t.end()
})

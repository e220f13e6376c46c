import type { XmlNode } from './xml.ts'

/**
 * How often something stands in a file (EN 16931 validation artefacts): within each element at a path, or the root where the path is empty,
 * that many elements at another path. Paths as in fields.ts; several are separated by a bar. `attribute`: only those that have it are
 * counted. `different`: only different values are. `at`: the pointer into the data, `*` the number of the element within which they stand.
 * `what`: what it is, at the beginning of a sentence.
 */
export type Cardinality = {
  id: string
  within: string
  path: string
  at: string
  what: string
  least?: number
  max?: number
  attribute?: string
  different?: boolean
}

const parties = ['cac:AccountingSupplierParty/cac:Party', 'cac:AccountingCustomerParty/cac:Party', 'cac:TaxRepresentativeParty']
const taxSchemes = parties.map((party) => `${party}/cac:PartyTaxScheme`).join(' | ')
const addresses = [...parties.map((party) => `${party}/cac:PostalAddress`), 'cac:Delivery/cac:DeliveryLocation/cac:Address'].join(' | ')
const creditors = ['cac:AccountingSupplierParty/cac:Party', 'cac:PayeeParty'].map((party) =>
  `${party}/cac:PartyIdentification/cbc:ID[@schemeID=SEPA]`
).join(' | ')

const [lines, settlement, agreement] = [
  'IncludedSupplyChainTradeLineItem',
  'ApplicableHeaderTradeSettlement',
  'ApplicableHeaderTradeAgreement'
].map((name) => `rsm:SupplyChainTradeTransaction/ram:${name}`) as [string, string, string]
const adjustments = [`${lines}/ram:SpecifiedLineTradeSettlement`, settlement].map((of) => `${of}/ram:SpecifiedTradeAllowanceCharge`).join(
  ' | '
)

export const ublStructure: readonly Cardinality[] = [
  {
    id: 'UBL-SR-01',
    within: '',
    path: 'cac:ContractDocumentReference/cbc:ID',
    at: '/contractReference',
    what: 'The contract (BT-12)',
    max: 1
  },
  {
    id: 'UBL-SR-02',
    within: '',
    path: 'cac:ReceiptDocumentReference/cbc:ID',
    at: '/receiptReference',
    what: 'The receiving advice (BT-15)',
    max: 1
  },
  {
    id: 'UBL-SR-03',
    within: '',
    path: 'cac:DespatchDocumentReference/cbc:ID',
    at: '/despatchReference',
    what: 'The despatch advice (BT-16)',
    max: 1
  },
  {
    id: 'UBL-SR-04',
    within: '',
    path: 'cac:AdditionalDocumentReference[cbc:DocumentTypeCode=130]/cbc:ID',
    at: '/object',
    what: 'The invoiced object (BT-18)',
    max: 1
  },
  { id: 'UBL-SR-05', within: '', path: 'cac:PaymentTerms/cbc:Note', at: '/paymentTerms', what: 'The terms of payment (BT-20)', max: 1 },
  { id: 'UBL-SR-08', within: '', path: 'cac:InvoicePeriod', at: '/period', what: 'The period (BG-14)', max: 1 },
  {
    id: 'UBL-SR-09',
    within: '',
    path: 'cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName',
    at: '/seller/name',
    what: 'The name of the seller (BT-27)',
    max: 1
  },
  {
    id: 'UBL-SR-10',
    within: '',
    path: 'cac:AccountingSupplierParty/cac:Party/cac:PartyName/cbc:Name',
    at: '/seller/tradingName',
    what: 'The trading name of the seller (BT-28)',
    max: 1
  },
  {
    id: 'UBL-SR-11',
    within: '',
    path: 'cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:CompanyID',
    at: '/seller/registration',
    what: 'The registration of the seller (BT-30)',
    max: 1
  },
  {
    id: 'UBL-SR-12',
    within: '',
    path: 'cac:AccountingSupplierParty/cac:Party/cac:PartyTaxScheme[cac:TaxScheme/cbc:ID=VAT]/cbc:CompanyID',
    at: '/seller/vatId',
    what: 'The VAT number of the seller (BT-31)',
    max: 1
  },
  {
    id: 'UBL-SR-13',
    within: '',
    path: 'cac:AccountingSupplierParty/cac:Party/cac:PartyTaxScheme[cac:TaxScheme/cbc:ID!=VAT]/cbc:CompanyID',
    at: '/seller/taxId',
    what: 'The tax number of the seller (BT-32)',
    max: 1
  },
  {
    id: 'UBL-SR-14',
    within: '',
    path: 'cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:CompanyLegalForm',
    at: '/seller/legalForm',
    what: 'The legal form of the seller (BT-33)',
    max: 1
  },
  {
    id: 'UBL-SR-15',
    within: '',
    path: 'cac:AccountingCustomerParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName',
    at: '/customer/name',
    what: 'The name of the customer (BT-44)',
    max: 1
  },
  {
    id: 'UBL-SR-16',
    within: '',
    path: 'cac:AccountingCustomerParty/cac:Party/cac:PartyIdentification/cbc:ID',
    at: '/customer/id',
    what: 'The id of the customer (BT-46)',
    max: 1
  },
  {
    id: 'UBL-SR-17',
    within: '',
    path: 'cac:AccountingCustomerParty/cac:Party/cac:PartyLegalEntity/cbc:CompanyID',
    at: '/customer/registration',
    what: 'The registration of the customer (BT-47)',
    max: 1
  },
  {
    id: 'UBL-SR-18',
    within: '',
    path: 'cac:AccountingCustomerParty/cac:Party/cac:PartyTaxScheme[cac:TaxScheme/cbc:ID=VAT]/cbc:CompanyID',
    at: '/customer/vatId',
    what: 'The VAT number of the customer (BT-48)',
    max: 1
  },
  { id: 'UBL-SR-24', within: '', path: 'cac:Delivery', at: '/delivery', what: 'The delivery (BG-13)', max: 1 },
  {
    id: 'UBL-SR-29',
    within: '',
    path: creditors,
    at: '/payment/mandate/creditorId',
    what: 'The id of the creditor (BT-90)',
    max: 1
  },
  { id: 'UBL-SR-39', within: '', path: 'cac:ProjectReference/cbc:ID', at: '/projectReference', what: 'The project (BT-11)', max: 1 },
  {
    id: 'UBL-SR-40',
    within: '',
    path: 'cac:AccountingCustomerParty/cac:Party/cac:PartyName/cbc:Name',
    at: '/customer/tradingName',
    what: 'The trading name of the customer (BT-45)',
    max: 1
  },
  { id: 'UBL-SR-45', within: '', path: 'cac:PaymentMeans/cbc:PaymentDueDate', at: '/dueDate', what: 'The due date (BT-9)', max: 1 },
  {
    id: 'UBL-SR-49',
    within: '',
    path: 'cac:InvoicePeriod/cbc:DescriptionCode',
    at: '/taxPointCode',
    what: 'The code of the VAT point date (BT-8)',
    max: 1
  },
  { id: 'UBL-SR-54', within: '', path: 'cac:PaymentMeans/cac:CardAccount', at: '/payment/card', what: 'The card (BG-18)', max: 1 },
  {
    id: 'UBL-SR-55',
    within: '',
    path: 'cac:PaymentMeans/cac:PaymentMandate',
    at: '/payment/mandate',
    what: 'The mandate (BG-19)',
    max: 1
  },
  {
    id: 'UBL-SR-56',
    within: '',
    path: 'cac:OriginatorDocumentReference/cbc:ID',
    at: '/tenderReference',
    what: 'The tender (BT-17)',
    max: 1
  },
  {
    id: 'UBL-SR-44',
    within: '',
    path: 'cac:PaymentMeans/cbc:PaymentID',
    at: '/payment/reference',
    what: 'The remittance information (BT-83)',
    max: 1,
    different: true
  },
  {
    id: 'UBL-SR-46',
    within: '',
    path: 'cac:PaymentMeans/cbc:PaymentMeansCode',
    at: '/payment/text',
    what: 'The means of payment in words (BT-82)',
    max: 1,
    attribute: 'name'
  },
  {
    id: 'UBL-SR-47',
    within: '',
    path: 'cac:PaymentMeans/cbc:PaymentMeansCode',
    at: '/payment/means',
    what: 'The means of payment (BT-81)',
    max: 1,
    different: true
  },
  {
    id: 'UBL-SR-42',
    within: 'cac:AccountingSupplierParty/cac:Party',
    path: 'cac:PartyTaxScheme',
    at: '/seller',
    what: 'A tax scheme of the seller',
    max: 2
  },
  {
    id: 'UBL-SR-51',
    within: addresses,
    path: 'cac:AddressLine',
    at: '',
    what: 'The third line of an address',
    max: 1
  },
  {
    id: 'UBL-SR-33',
    within: 'cac:AdditionalDocumentReference',
    path: 'cbc:DocumentDescription',
    at: '',
    what: 'The description of a supporting document (BT-123)',
    max: 1
  },
  {
    id: 'UBL-SR-25',
    within: 'cac:Delivery',
    path: 'cac:DeliveryParty/cac:PartyName/cbc:Name',
    at: '/delivery/name',
    what: 'The name of where it was delivered (BT-70)',
    max: 1
  },
  {
    id: 'UBL-SR-30',
    within: 'cac:AllowanceCharge[cbc:ChargeIndicator=false]',
    path: 'cbc:AllowanceChargeReason',
    at: '/allowances/*/reason',
    what: 'The reason of an allowance (BT-97)',
    max: 1
  },
  {
    id: 'UBL-SR-31',
    within: 'cac:AllowanceCharge[cbc:ChargeIndicator=true]',
    path: 'cbc:AllowanceChargeReason',
    at: '/charges/*/reason',
    what: 'The reason of a charge (BT-104)',
    max: 1
  },
  {
    id: 'UBL-SR-53',
    within: taxSchemes,
    path: 'cac:TaxScheme/cbc:ID',
    at: '',
    what: 'The scheme of a tax number',
    least: 1
  },
  {
    id: 'UBL-SR-53',
    within: taxSchemes,
    path: 'cbc:CompanyID',
    at: '',
    what: 'The number of a tax scheme',
    least: 1
  },
  {
    id: 'UBL-SR-34',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cbc:Note',
    at: '/lines/*/note',
    what: 'The note of a line (BT-127)',
    max: 1
  },
  {
    id: 'UBL-SR-35',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cac:OrderLineReference/cbc:LineID',
    at: '/lines/*/orderLine',
    what: 'The line of the order (BT-132)',
    max: 1
  },
  {
    id: 'UBL-SR-36',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cac:InvoicePeriod',
    at: '/lines/*/period',
    what: 'The period of a line (BG-26)',
    max: 1
  },
  {
    id: 'UBL-SR-37',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cac:Price/cac:AllowanceCharge/cbc:Amount',
    at: '/lines/*/priceDiscount',
    what: 'The discount of a price (BT-147)',
    max: 1
  },
  {
    id: 'UBL-SR-50',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cac:Item/cbc:Description',
    at: '/lines/*/description',
    what: 'The description of what is invoiced (BT-154)',
    max: 1
  },
  {
    id: 'UBL-SR-52',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cac:DocumentReference',
    at: '/lines/*/object',
    what: 'The object of a line (BT-128)',
    max: 1
  },
  {
    id: 'UBL-SR-48',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cac:Item/cac:ClassifiedTaxCategory',
    at: '/lines/*/taxCategory',
    what: 'The VAT category of a line (BT-151)',
    least: 1,
    max: 1
  },
  {
    id: 'UBL-SR-19',
    within: 'cac:PayeeParty',
    path: 'cac:PartyName/cbc:Name',
    at: '/payee/name',
    what: 'The name of the payee (BT-59)',
    max: 1
  },
  {
    id: 'UBL-SR-20',
    within: 'cac:PayeeParty',
    path: 'cac:PartyIdentification/cbc:ID[@schemeID!=SEPA]',
    at: '/payee/id',
    what: 'The id of the payee (BT-60)',
    max: 1
  },
  {
    id: 'UBL-SR-21',
    within: 'cac:PayeeParty',
    path: 'cac:PartyLegalEntity/cbc:CompanyID',
    at: '/payee/registration',
    what: 'The registration of the payee (BT-61)',
    max: 1
  },
  {
    id: 'UBL-SR-26',
    within: 'cac:PaymentMeans',
    path: 'cbc:PaymentID',
    at: '/payment/reference',
    what: 'The remittance information of a payment (BT-83)',
    max: 1
  },
  {
    id: 'UBL-SR-27',
    within: 'cac:PaymentMeans',
    path: 'cbc:PaymentMeansCode',
    at: '/payment/means',
    what: 'The code of a means of payment (BT-81)',
    max: 1
  },
  {
    id: 'UBL-SR-28',
    within: 'cac:PaymentMeans',
    path: 'cac:PaymentMandate/cbc:ID',
    at: '/payment/mandate/reference',
    what: 'The reference of the mandate (BT-89)',
    max: 1
  },
  {
    id: 'UBL-SR-06',
    within: 'cac:BillingReference',
    path: 'cac:InvoiceDocumentReference',
    at: '/precedingInvoices/*',
    what: 'The preceding invoice of a reference (BG-3)',
    max: 1
  },
  {
    id: 'UBL-SR-07',
    within: 'cac:BillingReference',
    path: 'cac:InvoiceDocumentReference/cbc:ID',
    at: '/precedingInvoices/*',
    what: 'The number of a preceding invoice (BT-25)',
    least: 1
  },
  {
    id: 'UBL-SR-22',
    within: 'cac:TaxRepresentativeParty',
    path: 'cac:PartyName/cbc:Name',
    at: '/taxRepresentative/name',
    what: 'The name of the tax representative (BT-62)',
    max: 1
  },
  {
    id: 'UBL-SR-23',
    within: 'cac:TaxRepresentativeParty',
    path: 'cac:PartyTaxScheme/cbc:CompanyID',
    at: '/taxRepresentative/vatId',
    what: 'The VAT number of the tax representative (BT-63)',
    max: 1
  },
  {
    id: 'UBL-SR-32',
    within: 'cac:TaxTotal/cac:TaxSubtotal',
    path: 'cac:TaxCategory/cbc:TaxExemptionReason',
    at: '/taxExemptionReason',
    what: 'The reason why no VAT is due (BT-120)',
    max: 1
  }
]

export const ciiStructure: readonly Cardinality[] = [
  {
    id: 'CII-SR-009',
    within: 'rsm:ExchangedDocumentContext',
    path: 'ram:GuidelineSpecifiedDocumentContextParameter',
    at: '',
    what: 'The specification (BT-24)',
    least: 1,
    max: 1
  },
  {
    id: 'CII-SR-010',
    within: 'rsm:ExchangedDocumentContext',
    path: 'ram:GuidelineSpecifiedDocumentContextParameter/ram:ID',
    at: '',
    what: 'The id of the specification (BT-24)',
    least: 1,
    max: 1
  },
  { id: 'CII-SR-014', within: 'rsm:ExchangedDocument', path: 'ram:TypeCode', at: '/type', what: 'The type (BT-3)', least: 1, max: 1 },
  {
    id: 'CII-SR-046',
    within: `${lines}/ram:SpecifiedTradeProduct/ram:GlobalID`,
    path: '',
    at: '',
    what: 'The scheme of a standard id (BT-157)',
    least: 1,
    attribute: 'schemeID'
  },
  {
    id: 'CII-SR-090',
    within: `${lines}/ram:SpecifiedTradeProduct/ram:OriginTradeCountry`,
    path: 'ram:ID',
    at: '',
    what: 'The country of origin (BT-159)',
    least: 1,
    max: 1
  },
  {
    id: 'CII-SR-069',
    within: `${lines}/ram:SpecifiedTradeProduct/ram:ApplicableProductCharacteristic`,
    path: 'ram:Description',
    at: '',
    what: 'The name of an attribute (BT-160)',
    least: 1,
    max: 1
  },
  {
    id: 'CII-SR-072',
    within: `${lines}/ram:SpecifiedTradeProduct/ram:ApplicableProductCharacteristic`,
    path: 'ram:Value',
    at: '',
    what: 'The value of an attribute (BT-161)',
    least: 1,
    max: 1
  },
  {
    id: 'CII-SR-439',
    within: `${lines}/ram:SpecifiedLineTradeAgreement`,
    path: 'ram:NetPriceProductTradePrice/ram:ChargeAmount',
    at: '/lines/*/unitPrice',
    what: 'The price of a line (BT-146)',
    least: 1,
    max: 1
  },
  {
    id: 'CII-SR-440',
    within: `${lines}/ram:SpecifiedLineTradeAgreement/ram:GrossPriceProductTradePrice/ram:AppliedTradeAllowanceCharge`,
    path: 'ram:ActualAmount',
    at: '',
    what: 'The discount of a price (BT-147)',
    max: 1
  },
  {
    id: 'CII-SR-463',
    within: adjustments,
    path: 'ram:ChargeIndicator',
    at: '',
    what: 'What tells an allowance from a charge',
    least: 1
  },
  {
    id: 'CII-SR-471',
    within: adjustments,
    path: 'ram:RateApplicablePercent',
    at: '',
    what: 'The rate of an allowance or a charge',
    max: 1
  },
  {
    id: 'CII-SR-472',
    within: adjustments,
    path: 'ram:CategoryTradeTax',
    at: '',
    what: 'The VAT of an allowance or a charge',
    max: 1
  },
  {
    id: 'CII-SR-473',
    within: adjustments,
    path: 'ram:ActualAmount',
    at: '',
    what: 'The amount of an allowance or a charge',
    max: 1
  },
  {
    id: 'CII-SR-455',
    within: agreement,
    path: 'ram:SellerTradeParty/ram:DefinedTradeContact',
    at: '/seller/contact',
    what: 'The contact of the seller (BG-6)',
    max: 1
  },
  {
    id: 'CII-SR-456',
    within: agreement,
    path: 'ram:BuyerTradeParty/ram:DefinedTradeContact',
    at: '/customer/contact',
    what: 'The contact of the customer (BG-9)',
    max: 1
  },
  {
    id: 'CII-SR-459',
    within: agreement,
    path: 'ram:SellerTradeParty/ram:URIUniversalCommunication',
    at: '/seller/electronicAddress',
    what: 'The electronic address of the seller (BT-34)',
    max: 1
  },
  {
    id: 'CII-SR-460',
    within: agreement,
    path: 'ram:BuyerTradeParty/ram:URIUniversalCommunication',
    at: '/customer/electronicAddress',
    what: 'The electronic address of the customer (BT-49)',
    max: 1
  },
  {
    id: 'CII-SR-461',
    within: settlement,
    path: 'ram:ApplicableTradeTax/ram:TaxPointDate',
    at: '/taxPointDate',
    what: 'The VAT point date (BT-7)',
    max: 1
  },
  {
    id: 'CII-SR-462',
    within: settlement,
    path: 'ram:ApplicableTradeTax/ram:DueDateTypeCode',
    at: '/taxPointCode',
    what: 'The code of the VAT point date (BT-8)',
    max: 1,
    different: true
  },
  {
    id: 'CII-SR-467',
    within: settlement,
    path: 'ram:SpecifiedTradeSettlementPaymentMeans/ram:TypeCode',
    at: '/payment/means',
    what: 'The means of payment (BT-81)',
    max: 1,
    different: true
  },
  {
    id: 'CII-SR-468',
    within: settlement,
    path: 'ram:SpecifiedTradeSettlementPaymentMeans/ram:Information',
    at: '/payment/text',
    what: 'The means of payment in words (BT-82)',
    max: 1,
    different: true
  },
  {
    id: 'CII-SR-469',
    within: settlement,
    path: 'ram:PaymentReference',
    at: '/payment/reference',
    what: 'The remittance information (BT-83)',
    max: 1
  },
  {
    id: 'CII-SR-477',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:LineTotalAmount',
    at: '/subtotal',
    what: 'The sum of the lines (BT-106)',
    max: 1
  },
  {
    id: 'CII-SR-478',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:ChargeTotalAmount',
    at: '',
    what: 'The sum of the charges (BT-108)',
    max: 1
  },
  {
    id: 'CII-SR-479',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:AllowanceTotalAmount',
    at: '',
    what: 'The sum of the allowances (BT-107)',
    max: 1
  },
  {
    id: 'CII-SR-480',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:TaxBasisTotalAmount',
    at: '',
    what: 'The total without VAT (BT-109)',
    max: 1
  },
  {
    id: 'CII-SR-481',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:RoundingAmount',
    at: '/roundingAmount',
    what: 'The rounding (BT-114)',
    max: 1
  },
  {
    id: 'CII-SR-482',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:GrandTotalAmount',
    at: '/total',
    what: 'The total with VAT (BT-112)',
    max: 1
  },
  {
    id: 'CII-SR-484',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:TotalPrepaidAmount',
    at: '/prepaidAmount',
    what: 'What was paid (BT-113)',
    max: 1
  },
  {
    id: 'CII-SR-487',
    within: `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`,
    path: 'ram:DuePayableAmount',
    at: '/amountDue',
    what: 'The amount due (BT-115)',
    max: 1
  }
]

/** Payment in Germany: the rules of XRechnung, and of Peppol between German companies, by the codes of the means of payment. */
const transfers = ['30', '58'].map((code) => `cac:PaymentMeans[cbc:PaymentMeansCode=${code}]`).join(' | ')
const cards = ['48', '54', '55'].map((code) => `cac:PaymentMeans[cbc:PaymentMeansCode=${code}]`).join(' | ')
const debits = 'cac:PaymentMeans[cbc:PaymentMeansCode=59]'
const [account, card, mandate] = ['cac:PayeeFinancialAccount', 'cac:CardAccount', 'cac:PaymentMandate'] as [string, string, string]

function german (rate: string, transfer: readonly [string, string], [byCard, byDebit]: readonly [string, string]): Cardinality[] {
  return [
    {
      id: rate,
      within: 'cac:TaxTotal/cac:TaxSubtotal',
      path: 'cac:TaxCategory/cbc:Percent',
      at: '',
      what: 'A rate of VAT (BT-119)',
      least: 1
    },
    { id: transfer[0], within: transfers, path: account, at: '/bankDetails', what: 'The account of a credit transfer', least: 1 },
    {
      id: transfer[1],
      within: transfers,
      path: `${card} | ${mandate}`,
      at: '/payment',
      what: 'A card or a mandate of a credit transfer',
      max: 0
    },
    {
      id: byCard,
      within: cards,
      path: `${account} | ${mandate}`,
      at: '/payment',
      what: 'An account or a mandate of a payment by card',
      max: 0
    },
    {
      id: byDebit,
      within: debits,
      path: `${account} | ${card}`,
      at: '/payment',
      what: 'A card, or an account of the seller, of a direct debit',
      max: 0
    }
  ]
}

/** What XRechnung asks for besides. */
export const xrechnungStructure: Readonly<Record<'UBL' | 'CII', readonly Cardinality[]>> = {
  UBL: german('BR-DE-14', ['BR-DE-23-a', 'BR-DE-23-b'], ['BR-DE-24-b', 'BR-DE-25-b']),
  CII: [
    {
      id: 'BR-DE-14',
      within: `${settlement}/ram:ApplicableTradeTax`,
      path: 'ram:RateApplicablePercent',
      at: '',
      what: 'A rate of VAT (BT-119)',
      least: 1
    },
    ...[
      {
        id: 'BR-DE-23-a',
        codes: ['30', '58'],
        path: 'ram:PayeePartyCreditorFinancialAccount',
        what: 'The account of a credit transfer',
        least: 1
      },
      {
        id: 'BR-DE-23-b',
        codes: ['30', '58'],
        path: 'ram:ApplicableTradeSettlementFinancialCard',
        what: 'A card of a credit transfer',
        max: 0
      },
      {
        id: 'BR-DE-24-b',
        codes: ['48', '54', '55'],
        path: 'ram:PayeePartyCreditorFinancialAccount',
        what: 'An account of a payment by card',
        max: 0
      },
      {
        id: 'BR-DE-25-b',
        codes: ['59'],
        path: 'ram:PayeePartyCreditorFinancialAccount | ram:ApplicableTradeSettlementFinancialCard',
        what: 'A card, or an account of the seller, of a direct debit',
        max: 0
      }
    ].map(({ codes, ...rule }) => ({
      ...rule,
      within: codes.map((code) => `${settlement}/ram:SpecifiedTradeSettlementPaymentMeans[ram:TypeCode=${code}]`).join(' | '),
      at: '/payment'
    }))
  ]
}

/** What Peppol asks for between German companies. */
export const germanStructure: readonly Cardinality[] = german('DE-R-014', ['DE-R-023-1', 'DE-R-023-2'], ['DE-R-024-2', 'DE-R-025-2'])

/** What Peppol and XRechnung both ask for. */
export const sharedStructure: Readonly<Record<'UBL' | 'CII', readonly Cardinality[]>> = {
  UBL: [
    process('', 'cbc:ProfileID'),
    {
      id: 'PEPPOL-EN16931-R101',
      within: 'cac:InvoiceLine | cac:CreditNoteLine',
      path: 'cac:DocumentReference[cbc:DocumentTypeCode!=130]',
      at: '/lines/*/object',
      what: 'A document of a line other than its object (130)',
      max: 0
    }
  ],
  CII: [
    process('rsm:ExchangedDocumentContext', 'ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID'),
    {
      id: 'PEPPOL-EN16931-R101',
      within: lines,
      path: 'ram:SpecifiedLineTradeSettlement/ram:AdditionalReferencedDocument[ram:TypeCode!=130]',
      at: '/lines/*/object',
      what: 'A document of a line other than its object (130)',
      max: 0
    }
  ]
}

function process (within: string, path: string): Cardinality {
  return { id: 'PEPPOL-EN16931-R001', within, path, at: '/businessProcess', what: 'The business process (BT-23)', least: 1 }
}

/** What Peppol asks for besides. */
export const peppolStructure: readonly Cardinality[] = [
  {
    id: 'PEPPOL-EN16931-R080',
    within: '',
    path: 'cac:AdditionalDocumentReference[cbc:DocumentTypeCode=50]',
    at: '/projectReference',
    what: 'The project of a credit note (BT-11)',
    max: 1
  },
  {
    id: 'PEPPOL-EN16931-R100',
    within: 'cac:InvoiceLine | cac:CreditNoteLine',
    path: 'cac:DocumentReference',
    at: '/lines/*/object',
    what: 'The invoiced object of a line (BT-128)',
    max: 1
  }
]

/** An element, or an attribute where it begins with @, that stands nowhere; unless it is allowed in an element. */
type Ban = readonly [id: string, name: string, allowed?: (node: XmlNode) => boolean]

const typeOf = ({ children }: XmlNode): string | undefined => children.find(({ name }) => name === 'ram:TypeCode')?.text.trim()
const isSupporting = (node: XmlNode): boolean => node.name === 'ram:AdditionalReferencedDocument' && typeOf(node) === '916'
const isTyped = (node: XmlNode): boolean =>
  node.name === 'ram:AdditionalReferencedDocument' && ['50', '130', '916'].includes(typeOf(node) ?? '')

/** What has no place in elements of CII whose names end so. */
export const bans: readonly { in: string, except?: (node: XmlNode) => boolean, names: readonly Ban[] }[] = [
  {
    in: 'ID',
    names: [['CII-DT-101', '@schemeName'], ['CII-DT-102', '@schemeAgencyName'], ['CII-DT-103', '@schemeDataURI'], ['CII-DT-104',
      '@schemeURI']]
  },
  { in: ':TypeCode', names: [['CII-DT-008', '@name'], ['CII-DT-009', '@listURI']] },
  {
    in: 'ReferencedDocument',
    names: [
      ['CII-DT-015', 'ram:URIID', isSupporting],
      ['CII-DT-018', 'ram:TypeCode', isTyped],
      ['CII-DT-021', 'ram:Name', isSupporting],
      ['CII-DT-022', 'ram:AttachmentBinaryObject', isSupporting],
      ['CII-DT-024', 'ram:ReferenceTypeCode', (node) => typeOf(node) === '130'],
      ['CII-DT-027', 'ram:FormattedIssueDateTime', ({ name }) => name === 'ram:InvoiceReferencedDocument'],
      ['CII-DT-016', 'ram:StatusCode'],
      ['CII-DT-017', 'ram:CopyIndicator'],
      ['CII-DT-019', 'ram:GlobalID'],
      ['CII-DT-020', 'ram:RevisionID'],
      ['CII-DT-023', 'ram:Information'],
      ['CII-DT-025', 'ram:SectionName'],
      ['CII-DT-026', 'ram:PreviousRevisionID'],
      ['CII-DT-028', 'ram:EffectiveSpecifiedPeriod'],
      ['CII-DT-029', 'ram:IssuerTradeParty'],
      ['CII-DT-030', 'ram:AttachedSpecifiedBinaryFile']
    ]
  },
  {
    in: 'Amount',
    except: ({ name }) => name === 'ram:TaxTotalAmount',
    names: [['CII-DT-031', '@currencyID'], ['CII-DT-032', '@currencyCodeListVersionID']]
  },
  {
    in: 'Quantity',
    names: [['CII-DT-034', '@unitCodeListID'], ['CII-DT-035', '@unitCodeListAgencyID'], ['CII-DT-036', '@unitCodeListAgencyName']]
  },
  {
    in: 'BillingSpecifiedPeriod',
    names: [['CII-DT-069', 'ram:DurationMeasure'], ['CII-DT-070', 'ram:InclusiveIndicator'], ['CII-DT-071', 'ram:Description'], [
      'CII-DT-073',
      'ram:CompleteDateTime'
    ], ['CII-DT-074', 'ram:OpenIndicator'], ['CII-DT-075', 'ram:SeasonCode'], ['CII-DT-076', 'ram:ID'], ['CII-DT-077', 'ram:Name'], [
      'CII-DT-078',
      'ram:SequenceNumeric'
    ], ['CII-DT-079', 'ram:StartDateFlexibilityCode'], ['CII-DT-080', 'ram:ContinuousIndicator'], ['CII-DT-081', 'ram:PurposeCode']]
  },
  {
    in: 'PostalTradeAddress',
    names: [['CII-DT-082', 'ram:ID'], ['CII-DT-083', 'ram:PostOfficeBox'], ['CII-DT-084', 'ram:BuildingName'], ['CII-DT-086',
      'ram:LineFour'], ['CII-DT-087', 'ram:LineFive'], ['CII-DT-088', 'ram:StreetName'], ['CII-DT-089', 'ram:CitySubDivisionName'], [
      'CII-DT-090',
      'ram:CountryName'
    ], ['CII-DT-091', 'ram:CountrySubDivisionID'], ['CII-DT-092', 'ram:AttentionOf'], ['CII-DT-093', 'ram:CareOf'], ['CII-DT-094',
      'ram:BuildingNumber'], ['CII-DT-095', 'ram:DepartmentName'], ['CII-DT-096', 'ram:AdditionalStreetName']]
  }
]

import { type Decimal, decimalOf, type Json, type JsonObject, Money } from '@dispatch/common'
import { attributeAt, content, date, expected, type Field, type Fields, type File, group, identifiers, list, mark, measured, money, nodesAt,
  number, numberOf, read, schemed, text, textOf, unitOf } from './fields.ts'
import { notesOf } from './notes.ts'
import { type Parsed, taxOf, withExemptions, withNames } from './parsed.ts'
import { samePayment } from './payments.ts'
import type { XmlNode } from './xml.ts'

const transaction = 'rsm:SupplyChainTradeTransaction'
const agreement = `${transaction}/ram:ApplicableHeaderTradeAgreement`
const delivery = `${transaction}/ram:ApplicableHeaderTradeDelivery`
const settlement = `${transaction}/ram:ApplicableHeaderTradeSettlement`
const summation = `${settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`

const address: Fields = {
  address: text('ram:PostalTradeAddress/ram:LineOne'),
  addressLine2: text('ram:PostalTradeAddress/ram:LineTwo'),
  addressLine3: text('ram:PostalTradeAddress/ram:LineThree'),
  city: text('ram:PostalTradeAddress/ram:CityName'),
  postalCode: text('ram:PostalTradeAddress/ram:PostcodeCode'),
  region: text('ram:PostalTradeAddress/ram:CountrySubDivisionName'),
  country: text('ram:PostalTradeAddress/ram:CountryID')
}

const vatId = text('ram:SpecifiedTaxRegistration/ram:ID[@schemeID=VA]')
const registration = schemed('ram:SpecifiedLegalOrganization/ram:ID')

const taxId = text('ram:SpecifiedTaxRegistration/ram:ID[@schemeID=FC]')

const customer: Fields = {
  name: text('ram:Name'),
  tradingName: text('ram:SpecifiedLegalOrganization/ram:TradingBusinessName'),
  ...address,
  contact: text('ram:DefinedTradeContact/ram:PersonName'),
  phone: text('ram:DefinedTradeContact/ram:TelephoneUniversalCommunication/ram:CompleteNumber'),
  email: text('ram:DefinedTradeContact/ram:EmailURIUniversalCommunication/ram:URIID'),
  vatId,
  taxId,
  id: identifiers('ram:ID', 'ram:GlobalID'),
  registration,
  electronicAddress: schemed('ram:URIUniversalCommunication/ram:URIID')
}

/** A contact without a person may be a department. */
const department: Field = (node, at, file) =>
  nodesAt(node, 'ram:DefinedTradeContact/ram:PersonName').some((person) => person.text.trim() !== '')
    ? undefined
    : text('ram:DefinedTradeContact/ram:DepartmentName')(node, at, file)

function either (one: Field, other: Field): Field {
  return (node, at, file) => one(node, at, file) ?? other(node, at, file)
}

/** The parts of two lists. The places of the second are those of the list. */
function both (one: Field, other: Field): Field {
  return (node, at, file) => {
    const [first, second] = [one, other].map((field) => field(node, at, file)).map((found) => Array.isArray(found) ? found as Json[] : [])
    const all = [...first ?? [], ...second ?? []]
    return all.length === 0 ? undefined : all
  }
}

const buyer: Fields = { ...customer, contact: either(customer['contact'] ?? department, department) }

const seller: Fields = {
  ...buyer,
  legalForm: text('ram:Description')
}

/** One identifier, with a scheme or without. */
const identifier = either(schemed('ram:GlobalID'), text('ram:ID'))
const asIdentifier: Field = (node, at, file) => {
  const found = identifier(node, at, file)
  return typeof found === 'string' ? { id: found } : found
}

const period: Fields = { start: date('ram:StartDateTime/udt:DateTimeString'), end: date('ram:EndDateTime/udt:DateTimeString') }

const adjustment: Fields = {
  amount: money('ram:ActualAmount'),
  percent: number('ram:CalculationPercent'),
  base: money('ram:BasisAmount'),
  reason: text('ram:Reason'),
  reasonCode: text('ram:ReasonCode')
}

const taxed: Fields = {
  ...adjustment,
  taxCategory: text('ram:CategoryTradeTax[ram:TypeCode=VAT]/ram:CategoryCode'),
  taxRate: number('ram:CategoryTradeTax/ram:RateApplicablePercent')
}

/** A charge for transport, which is one of the charges. */
const transport: Fields = {
  amount: money('ram:AppliedAmount'),
  reason: text('ram:Description'),
  taxCategory: text('ram:AppliedTradeTax[ram:TypeCode=VAT]/ram:CategoryCode'),
  taxRate: number('ram:AppliedTradeTax/ram:RateApplicablePercent')
}

const charges = 'ram:SpecifiedTradeAllowanceCharge[ram:ChargeIndicator/udt:Indicator=true]'
const allowances = 'ram:SpecifiedTradeAllowanceCharge[ram:ChargeIndicator/udt:Indicator=false]'
const documents = `${agreement}/ram:AdditionalReferencedDocument`

const fields: Fields = {
  type: text('rsm:ExchangedDocument/ram:TypeCode'),
  number: text('rsm:ExchangedDocument/ram:ID'),
  date: date('rsm:ExchangedDocument/ram:IssueDateTime/udt:DateTimeString'),
  dueDate: date(`${settlement}/ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime/udt:DateTimeString`),
  currency: text(`${settlement}/ram:InvoiceCurrencyCode`),
  taxCurrency: text(`${settlement}/ram:TaxCurrencyCode`),
  businessProcess: text('rsm:ExchangedDocumentContext/ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID'),
  buyerReference: text(`${agreement}/ram:BuyerReference`),
  orderReference: text(`${agreement}/ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID`),
  salesOrderReference: text(`${agreement}/ram:SellerOrderReferencedDocument/ram:IssuerAssignedID`),
  projectReference: text(`${agreement}/ram:SpecifiedProcuringProject/ram:ID`),
  contractReference: text(`${agreement}/ram:ContractReferencedDocument/ram:IssuerAssignedID`),
  receiptReference: text(`${delivery}/ram:ReceivingAdviceReferencedDocument/ram:IssuerAssignedID`),
  despatchReference: text(`${delivery}/ram:DespatchAdviceReferencedDocument/ram:IssuerAssignedID`),
  tenderReference: text(`${documents}[ram:TypeCode=50]/ram:IssuerAssignedID`),
  object: object(`${documents}[ram:TypeCode=130]`),
  accountingReference: text(`${settlement}/ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID`),
  precedingInvoices: list(`${settlement}/ram:InvoiceReferencedDocument`, {
    number: text('ram:IssuerAssignedID'),
    date: date('ram:FormattedIssueDateTime/qdt:DateTimeString')
  }),
  seller: group(`${agreement}/ram:SellerTradeParty`, seller),
  customer: group(`${agreement}/ram:BuyerTradeParty`, buyer),
  payee: group(`${settlement}/ram:PayeeTradeParty`, { name: text('ram:Name'), id: asIdentifier, registration }),
  taxRepresentative: group(`${agreement}/ram:SellerTaxRepresentativeTradeParty`, { name: text('ram:Name'), vatId, ...address }),
  period: group(`${settlement}/ram:BillingSpecifiedPeriod`, period),
  allowances: list(`${settlement}/${allowances}`, taxed),
  charges: both(list(`${settlement}/${charges}`, taxed), list(`${settlement}/ram:SpecifiedLogisticsServiceCharge`, transport)),
  paymentTerms: text(`${settlement}/ram:SpecifiedTradePaymentTerms/ram:Description`),
  attachments: list(`${documents}[ram:TypeCode=916]`, {
    id: text('ram:IssuerAssignedID'),
    description: text('ram:Name'),
    url: text('ram:URIID'),
    content: content('ram:AttachmentBinaryObject'),
    mediaType: attributeAt('ram:AttachmentBinaryObject', 'mimeCode'),
    filename: attributeAt('ram:AttachmentBinaryObject', 'filename')
  }),
  subtotal: money(`${summation}/ram:LineTotalAmount`),
  total: money(`${summation}/ram:GrandTotalAmount`),
  prepaidAmount: money(`${summation}/ram:TotalPrepaidAmount`),
  roundingAmount: money(`${summation}/ram:RoundingAmount`),
  amountDue: money(`${summation}/ram:DuePayableAmount`)
}

const shipment: Fields = {
  name: text('ram:ShipToTradeParty/ram:Name'),
  date: date('ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime/udt:DateTimeString'),
  location: (node, at, file) => {
    const [party] = nodesAt(node, 'ram:ShipToTradeParty')
    return party === undefined ? undefined : asIdentifier(party, at, file)
  }
}

/** Sums that the data have no place for: they follow from others. */
const derived: Fields = {
  base: money(`${summation}/ram:TaxBasisTotalAmount`),
  allowances: money(`${summation}/ram:AllowanceTotalAmount`),
  charges: money(`${summation}/ram:ChargeTotalAmount`)
}

/** The invoiced object. */
function object (path: string): Field {
  return group(path, { id: text('ram:IssuerAssignedID'), scheme: text('ram:ReferenceTypeCode') })
}

const product = 'ram:SpecifiedTradeProduct'
const gross = 'ram:SpecifiedLineTradeAgreement/ram:GrossPriceProductTradePrice'
const net = 'ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice'
const lineSettlement = 'ram:SpecifiedLineTradeSettlement'
const quantity = 'ram:SpecifiedLineTradeDelivery/ram:BilledQuantity'

const lines = list(`${transaction}/ram:IncludedSupplyChainTradeLineItem`, {
  id: text('ram:AssociatedDocumentLineDocument/ram:LineID'),
  parentLine: text('ram:AssociatedDocumentLineDocument/ram:ParentLineID'),
  lineType: text('ram:AssociatedDocumentLineDocument/ram:LineStatusReasonCode'),
  name: text(`${product}/ram:Name`),
  description: text(`${product}/ram:Description`),
  note: text('ram:AssociatedDocumentLineDocument/ram:IncludedNote/ram:Content'),
  quantity: number(quantity),
  unit: unitOf(quantity),
  unitPrice: money(`${net}/ram:ChargeAmount`),
  grossPrice: money(`${gross}/ram:ChargeAmount`),
  // Earlier versions of ZUGFeRD have no indicator here.
  priceDiscount: either(
    ...(['=false', '!=true'] as const).map((said) =>
      money(`${gross}/ram:AppliedTradeAllowanceCharge[ram:ChargeIndicator/udt:Indicator${said}]/ram:ActualAmount`)
    ) as [Field, Field]
  ),
  priceQuantity: measured(`${net}/ram:BasisQuantity`),
  grossPriceQuantity: unlessRead(`${gross}/ram:BasisQuantity`, measured),
  total: money(`${lineSettlement}/ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount`),
  taxCategory: text(`${lineSettlement}/ram:ApplicableTradeTax[ram:TypeCode=VAT]/ram:CategoryCode`),
  taxRate: number(`${lineSettlement}/ram:ApplicableTradeTax/ram:RateApplicablePercent`),
  allowances: list(`${lineSettlement}/${allowances}`, adjustment),
  charges: list(`${lineSettlement}/${charges}`, adjustment),
  period: group(`${lineSettlement}/ram:BillingSpecifiedPeriod`, period),
  orderLine: text('ram:SpecifiedLineTradeAgreement/ram:BuyerOrderReferencedDocument/ram:LineID'),
  accountingReference: text(`${lineSettlement}/ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID`),
  object: object(`${lineSettlement}/ram:AdditionalReferencedDocument[ram:TypeCode=130]`),
  sellerItemId: text(`${product}/ram:SellerAssignedID`),
  buyerItemId: text(`${product}/ram:BuyerAssignedID`),
  standardItemId: schemed(`${product}/ram:GlobalID`),
  classifications: list(`${product}/ram:DesignatedProductClassification`, {
    code: text('ram:ClassCode'),
    list: attributeAt('ram:ClassCode', 'listID'),
    version: attributeAt('ram:ClassCode', 'listVersionID')
  }),
  origin: text(`${product}/ram:OriginTradeCountry/ram:ID`),
  attributes: list(`${product}/ram:ApplicableProductCharacteristic`, { name: text('ram:Description'), value: text('ram:Value') })
})

/** Reads an invoice or a credit note in UN/CEFACT CII. */
export function parseCii (root: XmlNode): Parsed {
  const at = (path: string): string | undefined => nodesAt(root, path)[0]?.text.trim()
  const file: File = {
    nodes: new Map([['', root]]),
    currency: at(`${settlement}/ram:InvoiceCurrencyCode`),
    taxCurrency: at(`${settlement}/ram:TaxCurrencyCode`)
  }
  const specification = textOf(root, 'rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID')
  for (const line of nodesAt(root, `${transaction}/ram:IncludedSupplyChainTradeLineItem`)) sameQuantity(line)
  const found = withNames(lines(root, '/lines', file), file)
  const project = nodesAt(root, `${agreement}/ram:SpecifiedProcuringProject/ram:Name`)[0]
  const data: Record<string, Json> = {
    ...read(root, '', fields, file),
    ...notesOf(nodesAt(root, 'rsm:ExchangedDocument/ram:IncludedNote').flatMap((note) => {
      const said = textOf(note, 'ram:Content')
      return said === undefined ? [] : [{ code: textOf(note, 'ram:SubjectCode')?.text, text: said.text, from: note }]
    }), file),
    ...read(root, '', { delivery: group(delivery, { ...shipment, ...below('ram:ShipToTradeParty', address) }) }, file),
    ...payment(root, file),
    ...vat(root, file),
    ...(found === undefined ? {} : { lines: found })
  }
  // The schema requires a name beside the identifier.
  if (project !== undefined && ['Project reference', data['projectReference']].includes(project.text.trim())) mark(project)
  const taxes = nodesAt(root, `${settlement}/ram:ApplicableTradeTax`).map((node) => taxOf(node, breakdown, file))
  return withExemptions({
    data: { ...data, ...taxPoint(root, file) },
    specification,
    stated: read(root, '/-', derived, file),
    taxes,
    file
  })
}

/** Fields of an element below. */
function below (path: string, known: Fields): Fields {
  return Object.fromEntries(Object.entries(known).map(([name, field]): [string, Field] => [name, (node, at, file) => {
    const [inner] = nodesAt(node, path)
    return inner === undefined ? undefined : field(inner, at, file)
  }]))
}

/** What nobody has read yet. */
function unlessRead (path: string, field: (path: string) => Field): Field {
  const own = field(path)
  return (node, at, file) => nodesAt(node, path)[0]?.isRead === true ? undefined : own(node, at, file)
}

/** The gross price is for as many as the net price, which is for one unless told. */
function sameQuantity (line: XmlNode): void {
  const [one] = nodesAt(line, `${gross}/ram:BasisQuantity`)
  const [other] = nodesAt(line, `${net}/ram:BasisQuantity`)
  const many = other === undefined ? new Money(1) : countIn(other)
  if (one === undefined || many === undefined || countIn(one)?.eq(many) !== true) return
  mark(one)
  expected(one, 'unitCode', (other ?? nodesAt(line, quantity)[0])?.attributes.get('unitCode'))
}

function countIn ({ text }: XmlNode): Decimal | undefined {
  return decimalOf(numberOf(text.trim()))
}

const breakdown: Fields = {
  category: text('ram:CategoryCode'),
  rate: number('ram:RateApplicablePercent'),
  base: money('ram:BasisAmount'),
  amount: money('ram:CalculatedAmount'),
  reason: text('ram:ExemptionReason'),
  code: text('ram:ExemptionReasonCode')
}

/** UNTDID 2475 of CII, as the semantic model and UBL say it with UNTDID 2005. */
const taxPointCodes: Readonly<Record<string, string>> = { 5: '3', 29: '35', 72: '432' }

/** When VAT becomes due: one date or code for all categories. */
function taxPoint (root: XmlNode, file: File): JsonObject {
  for (const type of nodesAt(root, `${settlement}/ram:ApplicableTradeTax/ram:TypeCode`)) if (type.text.trim() === 'VAT') mark(type)
  const found = read(root, '', {
    taxPointDate: date(`${settlement}/ram:ApplicableTradeTax/ram:TaxPointDate/udt:DateString`),
    taxPointCode: text(`${settlement}/ram:ApplicableTradeTax/ram:DueDateTypeCode`)
  }, file)
  for (const path of ['ram:TaxPointDate/udt:DateString', 'ram:DueDateTypeCode']) {
    const [first, ...others] = nodesAt(root, `${settlement}/ram:ApplicableTradeTax/${path}`)
    for (const other of others) {
      if (other.text.trim() !== first?.text.trim()) continue
      mark(other)
      other.attributes.clear()
    }
  }
  const { taxPointCode } = found
  return typeof taxPointCode === 'string' ? { ...found, taxPointCode: taxPointCodes[taxPointCode] ?? taxPointCode } : found
}

/** The VAT, and the one in the currency of VAT accounting. */
function vat (root: XmlNode, { nodes, ...file }: File): JsonObject {
  const { currency, taxCurrency } = file
  const isOther = ({ attributes }: XmlNode): boolean =>
    taxCurrency !== undefined && taxCurrency !== currency && attributes.get('currencyID') === taxCurrency
  const amounts = nodesAt(root, `${summation}/ram:TaxTotalAmount`)
  const found: Record<string, Json> = {}
  for (const [name, node] of [['taxAmount', amounts.find((one) => !isOther(one))], ['taxCurrencyAmount', amounts.find(isOther)]] as const) {
    const value = node?.parent === undefined ? undefined : read({ ...node.parent, children: [node] }, '', {
      [name]: money('ram:TaxTotalAmount', name === 'taxAmount' ? 'currency' : 'taxCurrency')
    }, { nodes, ...file })
    Object.assign(found, value)
  }
  return found
}

const how: Fields = {
  means: text('ram:TypeCode'),
  text: text('ram:Information'),
  card: group('ram:ApplicableTradeSettlementFinancialCard', { number: text('ram:ID'), holder: text('ram:CardholderName') })
}

const account: Fields = {
  iban: text('ram:PayeePartyCreditorFinancialAccount/ram:IBANID'),
  account: text('ram:PayeePartyCreditorFinancialAccount/ram:ProprietaryID'),
  accountHolder: text('ram:PayeePartyCreditorFinancialAccount/ram:AccountName'),
  bic: text('ram:PayeeSpecifiedCreditorFinancialInstitution/ram:BICID')
}

const ignored = ['ram:PayeePartyCreditorFinancialAccount', 'ram:PayeeSpecifiedCreditorFinancialInstitution']

/** Each means of payment, with those of the others that only add an account to it. */
function means (nodes: readonly XmlNode[]): XmlNode[][] {
  const groups: XmlNode[][] = []
  for (const node of nodes) {
    const same = groups.find(([first]) => first !== undefined && samePayment(first, node, ignored))
    if (same === undefined) groups.push([node])
    else same.push(node)
  }
  return groups
}

/** The accounts of a means of payment. */
function accountsOf (nodes: readonly XmlNode[], at: string, file: File): JsonObject {
  const accounts = nodes.flatMap((node, index) => {
    const found = read(node, `${at}/bankDetails/${index}`, account, file)
    return Object.keys(found).length === 0 ? [] : [found]
  })
  return accounts.length === 0 ? {} : { bankDetails: accounts.length === 1 ? accounts[0] ?? {} : accounts }
}

const debited: Fields = { account: text('ram:PayerPartyDebtorFinancialAccount/ram:IBANID') }

/** The payment: the first means, and further ones where the means are others. */
function payment (root: XmlNode, file: File): JsonObject {
  const [first = [], ...others] = means(nodesAt(root, `${settlement}/ram:SpecifiedTradeSettlementPaymentMeans`))
  const [node] = first
  const mandate = {
    ...read(root, '/payment/mandate', {
      reference: text(`${settlement}/ram:SpecifiedTradePaymentTerms/ram:DirectDebitMandateID`),
      creditorId: text(`${settlement}/ram:CreditorReferenceID`)
    }, file),
    ...(node === undefined ? {} : read(node, '/payment/mandate', debited, file))
  }
  const own = {
    ...(node === undefined ? {} : read(node, '/payment', how, file)),
    ...read(root, '/payment', { reference: text(`${settlement}/ram:PaymentReference`) }, file),
    ...(Object.keys(mandate).length === 0 ? {} : { mandate })
  }
  if (node !== undefined) file.nodes.set('/payment', node)
  const otherPayments = others.map((nodes, index) => otherPayment(nodes, `/otherPayments/${index}`, file))
  return {
    ...(Object.keys(own).length === 0 ? {} : { payment: own }),
    ...accountsOf(first, '', file),
    ...(otherPayments.length === 0 ? {} : { otherPayments })
  }
}

function otherPayment (nodes: readonly XmlNode[], at: string, file: File): JsonObject {
  const [node] = nodes
  if (node === undefined) return {}
  file.nodes.set(at, node)
  const mandate = read(node, `${at}/mandate`, debited, file)
  return {
    ...read(node, at, how, file),
    ...accountsOf(nodes, at, file),
    ...(Object.keys(mandate).length === 0 ? {} : { mandate })
  }
}

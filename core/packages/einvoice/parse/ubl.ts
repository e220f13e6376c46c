import type { Json, JsonObject } from '@dispatch/common'
import { attributeAt, content, day, type Field, type Fields, type File, group, identifiers, list, mark, measured, money, nodesAt, number,
  read, schemed, text, textOf, unitOf } from './fields.ts'
import { notesOf, ublNotesIn } from './notes.ts'
import { type FoundTax, type Parsed, taxOf, withExemptions, withNames } from './parsed.ts'
import { accountOf, samePayment } from './payments.ts'
import type { XmlNode } from './xml.ts'

const address = (below: string): Fields => ({
  address: text(`${below}/cbc:StreetName`),
  addressLine2: text(`${below}/cbc:AdditionalStreetName`),
  addressLine3: text(`${below}/cac:AddressLine/cbc:Line`),
  city: text(`${below}/cbc:CityName`),
  postalCode: text(`${below}/cbc:PostalZone`),
  region: text(`${below}/cbc:CountrySubentity`),
  country: text(`${below}/cac:Country/cbc:IdentificationCode`)
})

const vatId = text('cac:PartyTaxScheme[cac:TaxScheme/cbc:ID=VAT]/cbc:CompanyID')

/** The local number: every scheme but VAT is that one (BT-32). */
const taxId: Field = (node, at, { nodes }) => {
  const found = textOf(node, 'cac:PartyTaxScheme[cac:TaxScheme/cbc:ID!=VAT]/cbc:CompanyID')
  if (found === undefined) return undefined
  nodes.set(at, found.from)
  mark(nodesAt(found.from.parent ?? node, 'cac:TaxScheme/cbc:ID')[0])
  return found.text
}

const customer: Fields = {
  name: text('cac:PartyLegalEntity/cbc:RegistrationName'),
  tradingName: text('cac:PartyName/cbc:Name'),
  ...address('cac:PostalAddress'),
  contact: text('cac:Contact/cbc:Name'),
  phone: text('cac:Contact/cbc:Telephone'),
  email: text('cac:Contact/cbc:ElectronicMail'),
  vatId,
  taxId,
  id: identifiers('cac:PartyIdentification/cbc:ID[@schemeID!=SEPA]'),
  registration: schemed('cac:PartyLegalEntity/cbc:CompanyID'),
  electronicAddress: schemed('cbc:EndpointID')
}

const seller: Fields = {
  ...customer,
  legalForm: text('cac:PartyLegalEntity/cbc:CompanyLegalForm')
}

const parties: Fields = {
  seller: group('cac:AccountingSupplierParty/cac:Party', seller),
  customer: group('cac:AccountingCustomerParty/cac:Party', customer),
  payee: group('cac:PayeeParty', {
    name: text('cac:PartyName/cbc:Name'),
    id: schemed('cac:PartyIdentification/cbc:ID[@schemeID!=SEPA]'),
    registration: schemed('cac:PartyLegalEntity/cbc:CompanyID')
  }),
  taxRepresentative: group('cac:TaxRepresentativeParty', { name: text('cac:PartyName/cbc:Name'), vatId, ...address('cac:PostalAddress') }),
  delivery: group('cac:Delivery', {
    name: text('cac:DeliveryParty/cac:PartyName/cbc:Name'),
    date: day('cbc:ActualDeliveryDate'),
    location: schemed('cac:DeliveryLocation/cbc:ID'),
    ...address('cac:DeliveryLocation/cac:Address')
  })
}

const period: Fields = { start: day('cbc:StartDate'), end: day('cbc:EndDate') }

const adjustment: Fields = {
  amount: money('cbc:Amount'),
  percent: number('cbc:MultiplierFactorNumeric'),
  base: money('cbc:BaseAmount'),
  reason: text('cbc:AllowanceChargeReason'),
  reasonCode: text('cbc:AllowanceChargeReasonCode')
}

const taxed: Fields = {
  ...adjustment,
  taxCategory: text('cac:TaxCategory[cac:TaxScheme/cbc:ID=VAT]/cbc:ID'),
  taxRate: number('cac:TaxCategory/cbc:Percent')
}

const others = 'cac:AdditionalDocumentReference'

const references = (isCreditNote: boolean): Fields => ({
  buyerReference: text('cbc:BuyerReference'),
  salesOrderReference: text('cac:OrderReference/cbc:SalesOrderID'),
  orderReference: text('cac:OrderReference/cbc:ID'),
  projectReference: text(isCreditNote ? `${others}[cbc:DocumentTypeCode=50]/cbc:ID` : 'cac:ProjectReference/cbc:ID'),
  contractReference: text('cac:ContractDocumentReference/cbc:ID'),
  receiptReference: text('cac:ReceiptDocumentReference/cbc:ID'),
  despatchReference: text('cac:DespatchDocumentReference/cbc:ID'),
  tenderReference: text('cac:OriginatorDocumentReference/cbc:ID'),
  object: schemed(`${others}[cbc:DocumentTypeCode=130]/cbc:ID`),
  accountingReference: text('cbc:AccountingCost'),
  precedingInvoices: list('cac:BillingReference/cac:InvoiceDocumentReference', { number: text('cbc:ID'), date: day('cbc:IssueDate') }),
  attachments: list(`${others}[cbc:DocumentTypeCode!=130]${isCreditNote ? '[cbc:DocumentTypeCode!=50]' : ''}`, {
    id: text('cbc:ID'),
    description: text('cbc:DocumentDescription'),
    url: text('cac:Attachment/cac:ExternalReference/cbc:URI'),
    content: content('cac:Attachment/cbc:EmbeddedDocumentBinaryObject'),
    mediaType: attributeAt('cac:Attachment/cbc:EmbeddedDocumentBinaryObject', 'mimeCode'),
    filename: attributeAt('cac:Attachment/cbc:EmbeddedDocumentBinaryObject', 'filename')
  })
})

const head = (isCreditNote: boolean): Fields => ({
  type: text(isCreditNote ? 'cbc:CreditNoteTypeCode' : 'cbc:InvoiceTypeCode'),
  number: text('cbc:ID'),
  date: day('cbc:IssueDate'),
  dueDate: isCreditNote ? day('cac:PaymentMeans/cbc:PaymentDueDate') : day('cbc:DueDate'),
  taxPointDate: day('cbc:TaxPointDate'),
  taxPointCode: text('cac:InvoicePeriod/cbc:DescriptionCode'),
  currency: text('cbc:DocumentCurrencyCode'),
  taxCurrency: text('cbc:TaxCurrencyCode'),
  businessProcess: text('cbc:ProfileID')
})

const sums: Fields = {
  subtotal: money('cac:LegalMonetaryTotal/cbc:LineExtensionAmount'),
  total: money('cac:LegalMonetaryTotal/cbc:TaxInclusiveAmount'),
  prepaidAmount: money('cac:LegalMonetaryTotal/cbc:PrepaidAmount'),
  roundingAmount: money('cac:LegalMonetaryTotal/cbc:PayableRoundingAmount'),
  amountDue: money('cac:LegalMonetaryTotal/cbc:PayableAmount')
}

/** Sums that the data have no place for: they follow from others. */
const derived: Fields = {
  base: money('cac:LegalMonetaryTotal/cbc:TaxExclusiveAmount'),
  allowances: money('cac:LegalMonetaryTotal/cbc:AllowanceTotalAmount'),
  charges: money('cac:LegalMonetaryTotal/cbc:ChargeTotalAmount')
}

const reference = 'cac:BillingReference/cac:InvoiceDocumentReference/cbc:ID'

/** A field of a line that refers to its own invoice: this is how the line stands among others (EXTENDED-CTC-FR). */
function ofInvoice (field: Field): Field {
  return (node, at, file) => {
    const [id] = nodesAt(node, reference)
    const number = node.parent?.children.find(({ name }) => name === 'cbc:ID')?.text.trim()
    if (id === undefined || id.text.trim() !== number) return undefined
    mark(id)
    return field(node, at, file)
  }
}

const line = (isCreditNote: boolean): Fields => {
  const quantity = isCreditNote ? 'cbc:CreditedQuantity' : 'cbc:InvoicedQuantity'
  return {
    id: text('cbc:ID'),
    parentLine: ofInvoice(text('cac:BillingReference/cac:BillingReferenceLine/cbc:ID')),
    lineType: ofInvoice(text('cac:BillingReference/cac:InvoiceDocumentReference/cbc:DocumentStatusCode')),
    name: text('cac:Item/cbc:Name'),
    description: text('cac:Item/cbc:Description'),
    note: text('cbc:Note'),
    quantity: number(quantity),
    unit: unitOf(quantity),
    unitPrice: money('cac:Price/cbc:PriceAmount'),
    grossPrice: money('cac:Price/cac:AllowanceCharge[cbc:ChargeIndicator=false]/cbc:BaseAmount'),
    priceDiscount: money('cac:Price/cac:AllowanceCharge[cbc:ChargeIndicator=false]/cbc:Amount'),
    priceQuantity: measured('cac:Price/cbc:BaseQuantity'),
    total: money('cbc:LineExtensionAmount'),
    taxCategory: text('cac:Item/cac:ClassifiedTaxCategory[cac:TaxScheme/cbc:ID=VAT]/cbc:ID'),
    taxRate: number('cac:Item/cac:ClassifiedTaxCategory/cbc:Percent'),
    allowances: list('cac:AllowanceCharge[cbc:ChargeIndicator=false]', adjustment),
    charges: list('cac:AllowanceCharge[cbc:ChargeIndicator=true]', adjustment),
    period: group('cac:InvoicePeriod', period),
    orderLine: text('cac:OrderLineReference/cbc:LineID'),
    accountingReference: text('cbc:AccountingCost'),
    object: schemed('cac:DocumentReference[cbc:DocumentTypeCode=130]/cbc:ID'),
    sellerItemId: text('cac:Item/cac:SellersItemIdentification/cbc:ID'),
    buyerItemId: text('cac:Item/cac:BuyersItemIdentification/cbc:ID'),
    standardItemId: schemed('cac:Item/cac:StandardItemIdentification/cbc:ID'),
    classifications: list('cac:Item/cac:CommodityClassification', {
      code: text('cbc:ItemClassificationCode'),
      list: attributeAt('cbc:ItemClassificationCode', 'listID'),
      version: attributeAt('cbc:ItemClassificationCode', 'listVersionID')
    }),
    origin: text('cac:Item/cac:OriginCountry/cbc:IdentificationCode'),
    attributes: list('cac:Item/cac:AdditionalItemProperty', { name: text('cbc:Name'), value: text('cbc:Value') })
  }
}

const tables = [false, true].map((isCreditNote) => ({
  head: head(isCreditNote),
  references: references(isCreditNote),
  lines: linesOf(isCreditNote ? 'CreditNoteLine' : 'InvoiceLine', line(isCreditNote))
}))

/**
 * The lines, each followed by those that stand in it (extension of XRechnung). Its own total counts, whatever they say: they are there for
 * information.
 */
function linesOf (name: string, fields: Fields): Field {
  const [top, below] = [list(`cac:${name}`, fields), `cac:Sub${name}`]
  return (root, at, file) => {
    const nodes = nodesAt(root, `cac:${name}`)
    if (nodes.every((node) => nodesAt(node, below).length === 0)) return top(root, at, file)
    const found: JsonObject[] = []
    const add = (node: XmlNode, parent?: Json): void => {
      const place = `${at}/${found.length}`
      const own = read(node, place, fields, file)
      if (Object.keys(own).length === 0) return
      file.nodes.set(place, node)
      found.push(parent === undefined ? own : { ...own, parentLine: parent, lineType: 'INFORMATION' })
      const id = own['id']
      // What stands in a line without an id has nowhere to stand in the data.
      if (id !== undefined) { for (const inner of nodesAt(node, below)) add(inner, id) }
    }
    for (const node of nodes) add(node)
    return found.length === 0 ? undefined : found
  }
}

/** Reads an invoice or a credit note in UBL 2.1. */
export function parseUbl (root: XmlNode): Parsed {
  const isCreditNote = root.name === 'CreditNote'
  const table = tables[isCreditNote ? 1 : 0]
  const file: File = {
    nodes: new Map([['', root]]),
    currency: nodesAt(root, 'cbc:DocumentCurrencyCode')[0]?.text.trim(),
    taxCurrency: nodesAt(root, 'cbc:TaxCurrencyCode')[0]?.text.trim()
  }
  const specification = textOf(root, 'cbc:CustomizationID')
  const data: Record<string, Json> = {
    ...read(root, '', table?.head ?? {}, file),
    ...read(root, '', table?.references ?? {}, file),
    ...read(root, '', parties, file),
    ...read(root, '', {
      period: group('cac:InvoicePeriod', period),
      allowances: list('cac:AllowanceCharge[cbc:ChargeIndicator=false]', taxed),
      charges: list('cac:AllowanceCharge[cbc:ChargeIndicator=true]', taxed)
    }, file),
    ...notesOf(nodesAt(root, 'cbc:Note').flatMap((note) => {
      const said = note.text.trim()
      if (said === '') return []
      mark(note)
      return ublNotesIn(said, note)
    }), file),
    ...payment(root, file),
    ...read(root, '', sums, file)
  }
  // NA is what an order is called that has no number of its own, beside a sales order.
  if (data['salesOrderReference'] !== undefined && data['orderReference'] === 'NA') delete data['orderReference']
  const terms = textOf(root, 'cac:PaymentTerms/cbc:Note')
  if (terms !== undefined && !(isCreditNote && terms.text === data['dueDate'])) {
    file.nodes.set('/paymentTerms', terms.from)
    data['paymentTerms'] = terms.text
  }
  const lines = withNames(table?.lines(root, '/lines', file), file)
  const { taxes, vat } = taxTotals(root, file)
  return withExemptions({
    data: { ...data, ...vat, ...(lines === undefined ? {} : { lines }) },
    specification,
    stated: read(root, '/-', derived, file),
    taxes,
    file
  })
}

const breakdown: Fields = {
  category: text('cac:TaxCategory[cac:TaxScheme/cbc:ID=VAT]/cbc:ID'),
  rate: number('cac:TaxCategory/cbc:Percent'),
  base: money('cbc:TaxableAmount'),
  amount: money('cbc:TaxAmount'),
  reason: text('cac:TaxCategory/cbc:TaxExemptionReason'),
  code: text('cac:TaxCategory/cbc:TaxExemptionReasonCode')
}

/** The VAT of the invoice, by category and rate, and in the currency of VAT accounting. */
function taxTotals (root: XmlNode, file: File): { taxes: FoundTax[], vat: JsonObject } {
  const { currency, taxCurrency } = file
  const isOther = (node: XmlNode): boolean =>
    taxCurrency !== currency && nodesAt(node, 'cbc:TaxAmount')[0]?.attributes.get('currencyID') === taxCurrency && taxCurrency !== undefined
  const totals = nodesAt(root, 'cac:TaxTotal')
  const [own, other] = [totals.find((node) => !isOther(node)), totals.find(isOther)]
  return {
    taxes: own === undefined ? [] : nodesAt(own, 'cac:TaxSubtotal').map((node) => taxOf(node, breakdown, file)),
    vat: {
      ...(own === undefined ? {} : read(own, '', { taxAmount: money('cbc:TaxAmount') }, file)),
      ...(other === undefined ? {} : read(other, '', { taxCurrencyAmount: money('cbc:TaxAmount', 'taxCurrency') }, file))
    }
  }
}

const how: Fields = {
  means: text('cbc:PaymentMeansCode'),
  text: attributeAt('cbc:PaymentMeansCode', 'name'),
  reference: text('cbc:PaymentID'),
  card: group('cac:CardAccount', { number: text('cbc:PrimaryAccountNumberID'), holder: text('cbc:HolderName') })
}

const mandate: Fields = {
  reference: text('cac:PaymentMandate/cbc:ID'),
  account: text('cac:PaymentMandate/cac:PayerFinancialAccount/cbc:ID')
}

const account: Fields = {
  account: text('cac:PayeeFinancialAccount/cbc:ID'),
  accountHolder: text('cac:PayeeFinancialAccount/cbc:Name'),
  bic: text('cac:PayeeFinancialAccount/cac:FinancialInstitutionBranch/cbc:ID')
}

/** The payment: the first means, and of others with the same means their accounts. */
function payment (root: XmlNode, file: File): JsonObject {
  const [first, ...others] = nodesAt(root, 'cac:PaymentMeans')
  const creditor = textOf(root, 'cac:PayeeParty/cac:PartyIdentification/cbc:ID[@schemeID=SEPA]') ??
    textOf(root, 'cac:AccountingSupplierParty/cac:Party/cac:PartyIdentification/cbc:ID[@schemeID=SEPA]')
  if (creditor !== undefined) file.nodes.set('/payment/mandate/creditorId', creditor.from)
  const ignored = ['cac:PayeeFinancialAccount', 'cbc:PaymentDueDate']
  const same = first === undefined ? [] : others.filter((other) => samePayment(first, other, ignored))
  const accounts = first === undefined
    ? []
    : [first, ...same].flatMap((node, index) => accountOf(node, `/bankDetails/${index}`, account, file))
  const debit = {
    ...(first === undefined ? {} : read(first, '/payment/mandate', mandate, file)),
    ...(creditor === undefined ? {} : { creditorId: creditor.text })
  }
  const own = {
    ...(first === undefined ? {} : read(first, '/payment', how, file)),
    ...(Object.keys(debit).length === 0 ? {} : { mandate: debit })
  }
  if (first !== undefined) {
    file.nodes.set('/payment', first)
    // The schema requires a network, for which there is no term.
    for (const network of nodesAt(first, 'cac:CardAccount/cbc:NetworkID')) if (network.text.trim() === 'NA') mark(network)
  }
  return {
    ...(Object.keys(own).length === 0 ? {} : { payment: own }),
    ...(accounts.length === 0 ? {} : { bankDetails: accounts.length === 1 ? accounts[0] ?? {} : accounts })
  }
}

import { type Element, elements } from './xml.ts'

/**
 * The order of the elements in UBL 2.1 (UBL-Invoice-2.1.xsd, UBL-CreditNote-2.1.xsd, UBL-CommonAggregateComponents-2.1.xsd), of those that
 * EN 16931 has.
 */
const ubl = {
  Invoice: 'CustomizationID ProfileID ID IssueDate DueDate InvoiceTypeCode Note TaxPointDate DocumentCurrencyCode TaxCurrencyCode ' +
    'AccountingCost BuyerReference InvoicePeriod OrderReference BillingReference DespatchDocumentReference ' +
    'ReceiptDocumentReference OriginatorDocumentReference ContractDocumentReference AdditionalDocumentReference ProjectReference ' +
    'AccountingSupplierParty AccountingCustomerParty PayeeParty TaxRepresentativeParty Delivery PaymentMeans PaymentTerms ' +
    'AllowanceCharge TaxTotal LegalMonetaryTotal InvoiceLine',
  CreditNote: 'CustomizationID ProfileID ID IssueDate TaxPointDate CreditNoteTypeCode Note DocumentCurrencyCode TaxCurrencyCode ' +
    'AccountingCost BuyerReference InvoicePeriod OrderReference BillingReference DespatchDocumentReference ' +
    'ReceiptDocumentReference ContractDocumentReference AdditionalDocumentReference OriginatorDocumentReference ' +
    'AccountingSupplierParty AccountingCustomerParty PayeeParty TaxRepresentativeParty Delivery PaymentMeans PaymentTerms ' +
    'AllowanceCharge TaxTotal LegalMonetaryTotal CreditNoteLine',
  InvoicePeriod: 'StartDate EndDate DescriptionCode',
  OrderReference: 'ID SalesOrderID',
  BillingReference: 'InvoiceDocumentReference',
  InvoiceDocumentReference: 'ID IssueDate',
  'DespatchDocumentReference ReceiptDocumentReference OriginatorDocumentReference ContractDocumentReference ProjectReference': 'ID',
  'AdditionalDocumentReference DocumentReference': 'ID DocumentTypeCode DocumentDescription Attachment',
  Attachment: 'EmbeddedDocumentBinaryObject ExternalReference',
  ExternalReference: 'URI',
  'AccountingSupplierParty AccountingCustomerParty': 'Party',
  'Party PayeeParty TaxRepresentativeParty':
    'EndpointID PartyIdentification PartyName PostalAddress PartyTaxScheme PartyLegalEntity Contact',
  'PartyIdentification BuyersItemIdentification SellersItemIdentification StandardItemIdentification': 'ID',
  'FinancialInstitutionBranch PayerFinancialAccount TaxScheme': 'ID',
  PartyName: 'Name',
  'PostalAddress Address': 'StreetName AdditionalStreetName CityName PostalZone CountrySubentity AddressLine Country',
  AddressLine: 'Line',
  'Country OriginCountry': 'IdentificationCode',
  PartyTaxScheme: 'CompanyID TaxScheme',
  PartyLegalEntity: 'RegistrationName CompanyID CompanyLegalForm',
  Contact: 'Name Telephone ElectronicMail',
  Delivery: 'ActualDeliveryDate DeliveryLocation DeliveryParty',
  DeliveryLocation: 'ID Address',
  DeliveryParty: 'PartyName',
  PaymentMeans: 'PaymentMeansCode PaymentDueDate PaymentID CardAccount PayeeFinancialAccount PaymentMandate',
  CardAccount: 'PrimaryAccountNumberID NetworkID HolderName',
  PayeeFinancialAccount: 'ID Name FinancialInstitutionBranch',
  PaymentMandate: 'ID PayerFinancialAccount',
  PaymentTerms: 'Note',
  AllowanceCharge: 'ChargeIndicator AllowanceChargeReasonCode AllowanceChargeReason MultiplierFactorNumeric Amount BaseAmount TaxCategory',
  TaxTotal: 'TaxAmount TaxSubtotal',
  TaxSubtotal: 'TaxableAmount TaxAmount TaxCategory',
  'TaxCategory ClassifiedTaxCategory': 'ID Percent TaxExemptionReasonCode TaxExemptionReason TaxScheme',
  LegalMonetaryTotal: 'LineExtensionAmount TaxExclusiveAmount TaxInclusiveAmount AllowanceTotalAmount ChargeTotalAmount PrepaidAmount ' +
    'PayableRoundingAmount PayableAmount',
  InvoiceLine: 'ID Note InvoicedQuantity LineExtensionAmount AccountingCost InvoicePeriod OrderLineReference DocumentReference ' +
    'AllowanceCharge Item Price',
  CreditNoteLine: 'ID Note CreditedQuantity LineExtensionAmount AccountingCost InvoicePeriod OrderLineReference DocumentReference ' +
    'AllowanceCharge Item Price',
  OrderLineReference: 'LineID',
  Item: 'Description Name BuyersItemIdentification SellersItemIdentification StandardItemIdentification OriginCountry ' +
    'CommodityClassification ClassifiedTaxCategory AdditionalItemProperty',
  CommodityClassification: 'ItemClassificationCode',
  AdditionalItemProperty: 'Name Value',
  Price: 'PriceAmount BaseQuantity AllowanceCharge'
}

/** The order of the elements in CII (FACTUR-X_EN16931.xsd, Factur-X 1.09), which is that of D16B. */
const cii = {
  CrossIndustryInvoice: 'ExchangedDocumentContext ExchangedDocument SupplyChainTradeTransaction',
  'PayeePartyCreditorFinancialAccount': 'IBANID AccountName ProprietaryID',
  'PayeeSpecifiedCreditorFinancialInstitution': 'BICID',
  'PayerPartyDebtorFinancialAccount': 'IBANID',
  'BusinessProcessSpecifiedDocumentContextParameter GuidelineSpecifiedDocumentContextParameter': 'ID',
  'AssociatedDocumentLineDocument': 'LineID IncludedNote',
  'ExchangedDocumentContext': 'BusinessProcessSpecifiedDocumentContextParameter GuidelineSpecifiedDocumentContextParameter',
  'ExchangedDocument': 'ID TypeCode IssueDateTime IncludedNote',
  'ApplicableHeaderTradeAgreement':
    'BuyerReference SellerTradeParty BuyerTradeParty SellerTaxRepresentativeTradeParty SellerOrderReferencedDocument ' +
    'BuyerOrderReferencedDocument ContractReferencedDocument AdditionalReferencedDocument SpecifiedProcuringProject',
  'ApplicableHeaderTradeDelivery':
    'ShipToTradeParty ActualDeliverySupplyChainEvent DespatchAdviceReferencedDocument ReceivingAdviceReferencedDocument',
  'ApplicableHeaderTradeSettlement':
    'CreditorReferenceID PaymentReference TaxCurrencyCode InvoiceCurrencyCode PayeeTradeParty SpecifiedTradeSettlementPaymentMeans ' +
    'ApplicableTradeTax BillingSpecifiedPeriod SpecifiedTradeAllowanceCharge SpecifiedTradePaymentTerms ' +
    'SpecifiedTradeSettlementHeaderMonetarySummation InvoiceReferencedDocument ReceivableSpecifiedTradeAccountingAccount',
  'SpecifiedLegalOrganization': 'ID TradingBusinessName',
  'SpecifiedLineTradeAgreement': 'BuyerOrderReferencedDocument GrossPriceProductTradePrice NetPriceProductTradePrice',
  'SpecifiedLineTradeDelivery': 'BilledQuantity',
  'SpecifiedLineTradeSettlement':
    'ApplicableTradeTax BillingSpecifiedPeriod SpecifiedTradeAllowanceCharge SpecifiedTradeSettlementLineMonetarySummation ' +
    'AdditionalReferencedDocument ReceivableSpecifiedTradeAccountingAccount',
  'IncludedNote': 'Content SubjectCode',
  'SpecifiedProcuringProject': 'ID Name',
  'ApplicableProductCharacteristic': 'Description Value',
  'DesignatedProductClassification': 'ClassCode',
  'AdditionalReferencedDocument BuyerOrderReferencedDocument ContractReferencedDocument DespatchAdviceReferencedDocument':
    'IssuerAssignedID URIID LineID TypeCode Name AttachmentBinaryObject ReferenceTypeCode FormattedIssueDateTime',
  'InvoiceReferencedDocument ReceivingAdviceReferencedDocument SellerOrderReferencedDocument':
    'IssuerAssignedID URIID LineID TypeCode Name AttachmentBinaryObject ReferenceTypeCode FormattedIssueDateTime',
  'BillingSpecifiedPeriod': 'StartDateTime EndDateTime',
  'ActualDeliverySupplyChainEvent': 'OccurrenceDateTime',
  'IncludedSupplyChainTradeLineItem':
    'AssociatedDocumentLineDocument SpecifiedTradeProduct SpecifiedLineTradeAgreement SpecifiedLineTradeDelivery ' +
    'SpecifiedLineTradeSettlement',
  'SupplyChainTradeTransaction':
    'IncludedSupplyChainTradeLineItem ApplicableHeaderTradeAgreement ApplicableHeaderTradeDelivery ApplicableHeaderTradeSettlement',
  'SpecifiedTaxRegistration': 'ID',
  'ReceivableSpecifiedTradeAccountingAccount': 'ID',
  'PostalTradeAddress': 'PostcodeCode LineOne LineTwo LineThree CityName CountryID CountrySubDivisionName',
  'AppliedTradeAllowanceCharge SpecifiedTradeAllowanceCharge':
    'ChargeIndicator CalculationPercent BasisAmount ActualAmount ReasonCode Reason CategoryTradeTax',
  'DefinedTradeContact': 'PersonName DepartmentName TelephoneUniversalCommunication EmailURIUniversalCommunication',
  'OriginTradeCountry': 'ID',
  'BuyerTradeParty PayeeTradeParty SellerTaxRepresentativeTradeParty SellerTradeParty ShipToTradeParty':
    'ID GlobalID Name Description SpecifiedLegalOrganization DefinedTradeContact PostalTradeAddress URIUniversalCommunication ' +
    'SpecifiedTaxRegistration',
  'SpecifiedTradePaymentTerms': 'Description DueDateDateTime DirectDebitMandateID',
  'GrossPriceProductTradePrice NetPriceProductTradePrice': 'ChargeAmount BasisQuantity AppliedTradeAllowanceCharge',
  'SpecifiedTradeProduct':
    'GlobalID SellerAssignedID BuyerAssignedID Name Description ApplicableProductCharacteristic DesignatedProductClassification ' +
    'OriginTradeCountry',
  'ApplicableTradeSettlementFinancialCard': 'ID CardholderName',
  'SpecifiedTradeSettlementHeaderMonetarySummation':
    'LineTotalAmount ChargeTotalAmount AllowanceTotalAmount TaxBasisTotalAmount TaxTotalAmount RoundingAmount GrandTotalAmount ' +
    'TotalPrepaidAmount DuePayableAmount',
  'SpecifiedTradeSettlementLineMonetarySummation': 'LineTotalAmount',
  'SpecifiedTradeSettlementPaymentMeans': 'TypeCode Information ApplicableTradeSettlementFinancialCard PayerPartyDebtorFinancialAccount ' +
    'PayeePartyCreditorFinancialAccount PayeeSpecifiedCreditorFinancialInstitution',
  'ApplicableTradeTax CategoryTradeTax':
    'CalculatedAmount TypeCode ExemptionReason BasisAmount CategoryCode ExemptionReasonCode TaxPointDate DueDateTypeCode ' +
    'RateApplicablePercent',
  'EmailURIUniversalCommunication TelephoneUniversalCommunication URIUniversalCommunication': 'URIID CompleteNumber'
}

function byElement (table: Readonly<Record<string, string>>): Map<string, string[]> {
  return new Map(Object.entries(table).flatMap(([names, children]) => names.split(' ').map((name) => [name, children.split(' ')] as const)))
}

const sequences = { ubl: byElement(ubl), cii: byElement(cii) }

/** Elements in the wrong place, or not in the schema, as `parent/child`. */
export function misplaced (root: Element, syntax: keyof typeof sequences): string[] {
  return elements(root).flatMap((parent) => {
    const order = sequences[syntax].get(parent.name)
    if (order === undefined) return []
    let last = 0
    return parent.children.flatMap(({ name }) => {
      const place = order.indexOf(name)
      const isWrong = place < last
      last = Math.max(last, place)
      return isWrong ? [`${parent.name}/${name}`] : []
    })
  })
}

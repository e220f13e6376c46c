import type { JsonObject } from '@dispatch/common'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

/** Makes the CII and the UBL of an invoice with so many lines. */
export type MakeBoth = (count: number, round: number) => Promise<unknown>

/** The used part of the package, which is installed for the benchmark only, and so are its types. */
type Core = { InvoiceService: new(logger: object) => { generate: (invoice: object, options: object) => Promise<string | Uint8Array> } }

/** An invoice as `@e-invoice-eu/core` makes it of the sums that it is given, if it is installed; undefined otherwise. */
export function peer (): MakeBoth | undefined {
  if (!existsSync(new URL('../node_modules/@e-invoice-eu/core/', import.meta.url))) return undefined
  const { InvoiceService } = createRequire(import.meta.url)('@e-invoice-eu/core') as Core
  const quiet = (): void => undefined
  const service = new InvoiceService({ log: quiet, warn: quiet, error: quiet })
  return async (count, round) => {
    const invoice = invoiceOf(count, round)
    for (const format of ['CII', 'UBL']) await service.generate(structuredClone(invoice), { format, lang: 'en' })
  }
}

const amount = (name: string, value: number): JsonObject => ({ [`cbc:${name}`]: value.toFixed(2), [`cbc:${name}@currencyID`]: 'EUR' })
const vat = { 'cbc:ID': 'S', 'cbc:Percent': '20', 'cac:TaxScheme': { 'cbc:ID': 'VAT' } }

function party (name: string, country: string, vatId: string): JsonObject {
  const tax = { 'cbc:CompanyID': vatId, 'cac:TaxScheme': { 'cbc:ID': 'VAT' } }
  return {
    'cbc:EndpointID': vatId,
    'cbc:EndpointID@schemeID': '9957',
    'cac:PostalAddress': {
      'cbc:StreetName': '1 rue A',
      'cbc:CityName': 'Lyon',
      'cbc:PostalZone': '69001',
      'cac:Country': { 'cbc:IdentificationCode': country }
    },
    // A seller may have several.
    'cac:PartyTaxScheme': country === 'FR' ? [tax] : tax,
    'cac:PartyLegalEntity': { 'cbc:RegistrationName': name }
  }
}

function invoiceOf (count: number, round: number): JsonObject {
  const net = count * 20
  const lines = Array.from({ length: count }, (_, index) => ({
    'cbc:ID': String(index + 1),
    'cbc:InvoicedQuantity': '2',
    'cbc:InvoicedQuantity@unitCode': 'C62',
    ...amount('LineExtensionAmount', 20),
    'cac:Item': { 'cbc:Name': `Line ${String(index)} of ${String(round)}`, 'cac:ClassifiedTaxCategory': vat },
    'cac:Price': amount('PriceAmount', 10)
  }))
  return {
    'ubl:Invoice': {
      'cbc:CustomizationID': 'urn:cen.eu:en16931:2017',
      'cbc:ProfileID': 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0',
      'cbc:ID': `F-${String(round)}`,
      'cbc:IssueDate': '2026-03-14',
      'cbc:DueDate': '2026-04-13',
      'cbc:InvoiceTypeCode': '380',
      'cbc:DocumentCurrencyCode': 'EUR',
      'cbc:BuyerReference': 'B-1',
      'cac:AccountingSupplierParty': { 'cac:Party': party('Acme Tea', 'FR', 'FR39732829320') },
      'cac:AccountingCustomerParty': { 'cac:Party': party('Ada Ltd', 'ES', 'ESX1234567X') },
      'cac:TaxTotal': [{
        ...amount('TaxAmount', net / 5),
        'cac:TaxSubtotal': [{ ...amount('TaxableAmount', net), ...amount('TaxAmount', net / 5), 'cac:TaxCategory': vat }]
      }],
      'cac:LegalMonetaryTotal': {
        ...amount('LineExtensionAmount', net),
        ...amount('TaxExclusiveAmount', net),
        ...amount('TaxInclusiveAmount', net * 1.2),
        ...amount('PayableAmount', net * 1.2)
      },
      'cac:InvoiceLine': lines
    }
  }
}

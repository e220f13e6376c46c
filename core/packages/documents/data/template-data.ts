import { currencyOf, pageDataOf, plainPageDataOf, type Reading } from '@dispatch/einvoice'
import { eInvoiceFileFormats, type Format } from '../formats/file-formats.ts'
import type { TemplateSource } from '../model/model.ts'

/** How the data of an e-invoice are read for this format; undefined for any other document. */
export function readingOf ({ currency }: Pick<TemplateSource, 'currency'>, format: Format): Reading | undefined {
  return isEInvoice(format) ? { format: eInvoiceFileFormats[format], currency: currencyOf(currency) } : undefined
}

/** The data of a template for a document of this format. Data of an e-invoice get all computed sums. */
export function templateDataOf (source: Pick<TemplateSource, 'currency' | 'vocabulary'>, given: unknown, format: Format): unknown {
  const reading = readingOf(source, format)
  return reading === undefined ? plainDataOf(source, given) : pageDataOf(given, reading)
}

/** The data of a document that is no e-invoice. Those of an invoice get the tax by rate, and amounts of percentages. */
export function plainDataOf ({ currency, vocabulary }: Pick<TemplateSource, 'currency' | 'vocabulary'>, given: unknown): unknown {
  return vocabulary === 'invoice' ? plainPageDataOf(given, currencyOf(currency)) : given
}

function isEInvoice (format: Format): format is keyof typeof eInvoiceFileFormats {
  return format in eInvoiceFileFormats
}

/** `@dispatch/einvoice`: checks the data of an invoice against the rules of EN 16931 and writes them as UBL or CII. */

// The check.
export { checkEInvoice } from './rules/check.ts'
export type { Reading } from './read/read.ts'

// The result: XML, and the data for the page.
export { currencyOf, eInvoiceOf, pageDataOf } from './write/write.ts'
export { plainPageDataOf } from './write/page.ts'

// Facts: formats, countries.
export { eInvoiceFormats, type EInvoiceFormat } from './model/model.ts'
export { countryCodes } from './model/codes.ts'

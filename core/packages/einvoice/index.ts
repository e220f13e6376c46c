/** `@dispatch/einvoice`: checks the data of an invoice against the rules of EN 16931 and writes them as UBL or CII. */
export { countryCodes } from './model/codes.ts'
export { eInvoiceFormats, type EInvoiceFormat } from './model/model.ts'
export type { Reading } from './read/read.ts'
export { checkEInvoice } from './rules/check.ts'
export { currencyOf, eInvoiceOf, pageDataOf } from './write/write.ts'

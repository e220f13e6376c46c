/**
 * `@dispatch/einvoice`: checks the data of an invoice against the rules of EN 16931, writes them as UBL or CII, and reads them from files.
 */

// The check.
export { checkEInvoice } from './rules/check.ts'
export { profileOf, type Reading } from './read/read.ts'

// The result: XML, and the data for the page.
export { currencyOf, eInvoiceOf, pageDataOf } from './write/write.ts'
export { plainPageDataOf } from './write/page.ts'

// From data to XML and from a file to data, for use alone.
export { BrokenInvoice, checkInvoice, rewritable, writeInvoice } from './invoice.ts'
export { type ProfileChoice, type ProfileReport, reportProfiles, type RuleSeverity } from './profiles.ts'
export { type InvoiceFile, largestInvoice, type LostPart, type PlacedProblem, readInvoice, type RecomputedTotals } from './invoice-file.ts'
export { UnreadableInvoice } from './parse/unreadable.ts'

// Statuses of French invoices, as platforms tell them (CDAR).
export { readStatus } from './lifecycle/read-status.ts'
export { writeStatus } from './lifecycle/write-status.ts'
export { BrokenStatus, checkStatus, type InvoiceStatus, type StatusAmount, type StatusDetail,
  type StatusParty } from './lifecycle/status.ts'
export { amountDueOf, type BuyerCode, buyerCodes, type BuyerSaying, buyerStatus, type Collected, type Saying, type SellerCode, sellerCodes,
  sellerStatus } from './lifecycle/saying.ts'
export { isStatusCode, reasonsOf, type StatusCode, statusCodes } from './lifecycle/status-codes.ts'

// What French businesses report to the tax authority beside their e-invoices (Flux 10).
export { type Gathered, gatherPayments, gatherTransactions, type LeftOut, type LeftReason, type SentInvoice } from './reporting/gather.ts'
export { BrokenReport, checkReport, reportRuleIds } from './reporting/check-report.ts'
export { writeReport } from './reporting/write-report.ts'
export { dayInFrance, reportPeriod, type VatRegime, vatRegimes } from './reporting/periods.ts'
export { type EReport, type ReportHead, type ReportKind, reportKinds, salesCategories } from './reporting/report.ts'

// Facts: formats, profiles, countries.
export { type EInvoiceFormat, eInvoiceFormats, type EInvoiceProfile, eInvoiceProfiles } from './model/profiles.ts'
export { countryCodes } from './model/codes.ts'

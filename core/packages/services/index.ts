/**
 * `@dispatch/services`: what a dispatch can be. Each service is a folder here, by its name; all that lists services is derived from them.
 */
export { type ConsolePart } from './console.ts'
export { all } from './all.ts'
export { checkChannel } from './channel.ts'
export { type Content, type ContentKind, type InlinePicture, type StepContent } from './content.ts'
export { decimalAt } from './amounts.ts'
export { type DeliveryRules } from './delivery.ts'
export { attaches, type EmailFields } from './email/index.ts'
export { recipientsOf } from './email/recipients.ts'
export { senderProblems } from './email/senders.ts'
export { checkJoined, type DocumentSource, type Enclosed, type Enclosure, furtherDocuments, GivenDocument, givenDocument, handleOf,
  largestJoined, placeOf } from './enclosures.ts'
export { cleanFilename } from './filename.ts'
export { type Hours } from './hours.ts'
export { InvoicingFields } from './invoicing/index.ts'
export { checkEInvoiceWords, checkInvoice } from './invoicing/invoice.ts'
export { isLinked, linkToken } from './link.ts'
export { formatOf, jsonServices, madeAs, mailService, needsProvider, providedNames, services, takesDocument, templateServices,
  uploadServices } from './lists.ts'
export { type DeliveryOf, isServiceName, type ProvidedName, type ServiceContracts, type ServiceName, serviceNames } from './names.ts'
export { documentValue, type Meaning } from './outline.ts'
export { type CheckInput, type Facts, type FactsTemplate, type Findings, type PageBefore, type ProviderFacts, type SaidLater,
  type SuppressionReason, suppressionReasons } from './service.ts'
export { contradictions, isStatedIn, toldData, withFacts } from './shared-facts.ts'
export { SmsText } from './sms/text-size.ts'

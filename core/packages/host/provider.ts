/**
 * All that a provider imports, as `@dispatch/core/provider`. Everything here is public contract and follows the version of
 * `@dispatch/core` that a provider names in its `peerDependencies`.
 */
export { Type, type Static } from 'typebox'
export { defineProvider } from './manifest/definition.ts'
export { draftFirst } from './manifest/draft.ts'
export { AllowedSenders, allowedSendersInFrench, appCredentials, awsCredentials, Host, inFrench, Paper, PaymentCollection, Secret, TaxCodes,
  TextSender, webhookCredentials } from './settings/fields.ts'
export { failureOf, outcomeUnknown, recipientUnavailable, refused, unavailable } from '@dispatch/vendor-io/outcome'
export { invoiceOf, minorUnits } from './manifest/invoice.ts'
export { given, mailboxOf, plainFileName, textMessagePoll } from './manifest/message.ts'
export { carriedFields } from './manifest/invoice-carries.ts'
export { exactLines } from './manifest/invoice-lines.ts'
export { countedLines, daysBetween, joined, requireAsRequested as requireAsWanted, taxCodeOf,
  withoutErrors } from './manifest/invoice-made.ts'
export { shareOfPage, signingOf } from '@dispatch/services/esign/signing'
export { taxesOf } from './manifest/invoice-taxes.ts'
export { sendStatus } from '@dispatch/contract'
export { asciiMailbox, lookupLanguage, Money, placeLine, readMailbox, shortened, at, listOf, textOf } from '@dispatch/common'

export type { Json, JsonObject, Mailbox, Place, DocumentHandle, TurnedAway } from '@dispatch/common'
export type { CheckContext, Context, Keeping, State, TakeBack } from './manifest/context.ts'
export type { Suggestion } from './manifest/suggestion.ts'
export type { ServiceContracts } from '@dispatch/services'
export type { Accepted, Cancel, Dispatch, ElectronicAddress, FetchDocument, FetchReceived, FindRecipients, Found, Idempotency, ListReceived,
  Lookup, Poll, ProviderDefinition, Received, Recipient, Reported, Said, Say, ServiceDefinition, Status, Subscribe, Subscription,
  Unsubscribe } from './manifest/definition.ts'
export type { Requested as Asked, Known, Objection } from './manifest/provider-check.ts'
export type { Carried } from './manifest/carries.ts'
export type { Ignored } from './manifest/ignores.ts'
export type { Limit } from './manifest/limits.ts'
export type { Drafts } from './manifest/draft.ts'
export type { Adjustment, Invoice, InvoiceLine } from './manifest/invoice.ts'
export type { ExactLine } from './manifest/invoice-lines.ts'
export type { Signing } from '@dispatch/services/esign/signing'
export type { ErrorPlace, ErrorReading, Failure, ProviderErrorWord, Refusal } from '@dispatch/vendor-io/outcome'
export type { Log } from '@dispatch/common'
export type { Digest, Documents, Files, Http, HttpCall, HttpVerb, Jwt, OAuth1, OAuth2, SessionSignIn, SigV4, XmlValue, Smtp, SmtpMessage,
  SmtpReceipt, SmtpTransport } from '@dispatch/vendor-io'
export type { BodyForm } from './webhook/body.ts'
export type { Handshake } from './webhook/handshake.ts'
export type { KeySet } from './webhook/keys.ts'
export type { Part as SignedPart, Place as EventPlace, PublicKey, SecretKey, Signature, Token, Verifier } from './webhook/language.ts'
export type { EventReading, Webhook } from './webhook/webhook.ts'

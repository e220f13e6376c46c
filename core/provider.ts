/**
 * `@dispatch/core/provider`: all that a provider imports. Everything here is public contract and follows the
 * version of `@dispatch/core` that a provider names in its `peerDependencies`.
 */
export { Type, type Static } from 'typebox'
export { defineProvider } from './host/manifest/definition.ts'
export { draftFirst } from './host/manifest/draft.ts'
export { AllowedSenders, Host, Secret } from './host/settings/fields.ts'
export { failureOf, outcomeUnknown, refused, unavailable } from './host/call/failure.ts'
export { invoiceOf, minorUnits } from './host/manifest/invoice.ts'
export { sendStatus } from './contract/recipients.ts'
export { Money } from '@dispatch/common'
export { at, listOf, textOf } from './services/data.ts'

export type { Json, JsonObject } from '@dispatch/common'
export type { DocumentHandle } from './contract/common.ts'
export type { TurnedAway } from './contract/recipients.ts'
export type { Context, State, TakeBack } from './host/call/context.ts'
export type { ServiceContracts } from './host/manifest/contracts.ts'
export type { Accepted, Cancel, Dispatch, FetchDocument, Found, Idempotency, Lookup, Poll, ProviderDefinition, Reported, ServiceDefinition,
  Status } from './host/manifest/definition.ts'
export type { Asked, Known, Objection } from './host/manifest/provider-check.ts'
export type { Limit } from './host/manifest/limits.ts'
export type { Drafts } from './host/manifest/draft.ts'
export type { Adjustment, Invoice, InvoiceLine } from './host/manifest/invoice.ts'
export type { ErrorReading, Failure, ProviderErrorWord } from './host/call/failure.ts'
export type { Files } from './host/files/files.ts'
export type { Http, HttpCall, HttpVerb } from './host/http/call.ts'
export type { Log } from './host/call/log.ts'
export type { EventReading, KeySet, Verifier, Webhook } from './host/webhook/webhook.ts'
export type { OAuth2 } from './host/http/oauth.ts'
export type { SigV4 } from './host/http/sigv4.ts'
export type { XmlValue } from './host/http/xml.ts'
export type { Smtp, SmtpMessage, SmtpReceipt, SmtpTransport } from './host/smtp/message.ts'

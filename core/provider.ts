/**
 * `@dispatch/core/provider`: all that a provider imports. Everything here is public contract and follows the
 * version of `@dispatch/core` that a provider names in its `peerDependencies`.
 */
export { Type, type Static } from 'typebox'
export { defineProvider } from './host/definition.ts'
export { draftFirst } from './host/draft.ts'
export { keyFor } from './host/environment.ts'
export { AllowedSenders, Host, Secret } from './host/fields.ts'
export { failureOf, outcomeUnknown, refused, unavailable } from './host/failure.ts'
export { invoiceOf, minorUnits } from './host/invoice.ts'
export { Money } from './services/amounts.ts'
export { at, textOf } from './services/data.ts'

export type { Json, JsonObject } from './contract/json.ts'
export type { DocumentHandle } from './contract/common.ts'
export type { Context, State } from './host/context.ts'
export type { ServiceContracts } from './host/contracts.ts'
export type { Accepted, Cancel, Dispatch, FetchDocument, Found, Idempotency, Lookup, Poll, ProviderDefinition, Reported, ServiceDefinition, Status } from './host/definition.ts'
export type { Drafts } from './host/draft.ts'
export type { Invoice, InvoiceLine } from './host/invoice.ts'
export type { ErrorReading, Failure, ProviderErrorWord } from './host/failure.ts'
export type { Files } from './host/files.ts'
export type { Http, HttpCall, HttpVerb } from './host/http-call.ts'
export type { Log } from './host/log.ts'
export type { EventReading, KeySet, Verifier, Webhook } from './host/webhook.ts'
export type { OAuth2 } from './host/oauth.ts'
export type { SigV4 } from './host/sigv4.ts'
export type { Smtp, SmtpMessage, SmtpReceipt, SmtpTransport } from './host/smtp-message.ts'

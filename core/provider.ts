/**
 * `@dispatch/core/provider`: all that a provider imports. Everything here is public contract and follows the
 * version of `@dispatch/core` that a provider names in its `peerDependencies`.
 */
export { Type, type Static } from 'typebox'
export { defineProvider } from './host/definition.ts'
export { Host, Secret } from './host/fields.ts'
export { outcomeUnknown, refused, unavailable } from './host/failure.ts'
export { at } from './services/data.ts'

export type { Json, JsonObject } from './contract/json.ts'
export type { DocumentHandle } from './contract/common.ts'
export type { Context, State } from './host/context.ts'
export type { ServiceContracts } from './host/contracts.ts'
export type { Accepted, Found, Idempotency, ProviderDefinition, ServiceDefinition } from './host/definition.ts'
export type { ProviderErrorWord } from './host/failure.ts'
export type { Log } from './host/log.ts'

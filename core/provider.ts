/**
 * `@dispatch/core/provider`: all that a provider imports. Everything here is public contract and follows the version of `@dispatch/core`
 * that a provider names in its `peerDependencies`.
 */
export * from '@dispatch/host/provider'

/**
 * `@dispatch/host/process`: what is bundled of the host into the process of an adapter, besides what providers import. Nothing here may
 * import what such a process has no use for.
 */
export { isPlainJson } from './contain/plain-json.ts'
export { checkContextOf } from './manifest/context.ts'

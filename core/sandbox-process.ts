/**
 * `@dispatch/core/sandbox/process`: what is bundled of the host into the process of an adapter, besides `@dispatch/core/provider`. Nothing
 * here may import what such a process has no use for.
 */
export { checkContextOf } from './host/manifest/context.ts'
export { failureError } from '@dispatch/vendor-io/outcome'
export { isPlainJson } from './host/contain/plain-json.ts'

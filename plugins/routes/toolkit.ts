/**
 * `@dispatch/plugins/routes`: what the routes of a feature are made of.
 */
export { compileValidator } from '../hooks/body-parsing.ts'
export { decoded, decodedBits } from '../hooks/content-encoding.ts'
export { askOwn } from '../hooks/own-request.ts'
export { boundaryOf, readForm } from '../hooks/form.ts'
export { type Html, html } from '../html.ts'
export { permissionsPolicies } from '../permissions-policy.ts'
export { auditAuthorOf } from './audit-author.ts'
export { decodedWords } from './encoded-words.ts'
export { idempotencyKeyOf } from './dispatch-route.ts'
export { contentDisposition } from './documents.ts'
export type { EventStream } from './event-stream.ts'
export { pageOf } from './paging.ts'
export { requireSince } from './since.ts'
export { createStreams, longestStream, streamNote, streamSeconds, StreamAnswer } from './streams.ts'
export { codeIn, integerIn, largestId, resourceNotFound, uuidIn } from './path-parameters.ts'
export { findVisibleDispatch } from './visible-dispatches.ts'

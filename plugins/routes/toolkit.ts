/**
 * `@dispatch/plugins/routes`: what the routes of a feature are made of.
 */
export { type Html, html } from '../html.ts'
export { permissionsPolicies } from '../permissions-policy.ts'
export { auditAuthorOf } from './audit-author.ts'
export { contentDisposition } from './documents.ts'
export { pageOf } from './paging.ts'
export { codeIn, integerIn, largestId, resourceNotFound, uuidIn } from './path-parameters.ts'

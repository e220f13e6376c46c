/** `@dispatch/embedded-postgres`: a PostgreSQL from npm that starts with one call. */

export { findEmbedded, startEmbedded, type Embedded } from './embedded.ts'
export { StartError } from './error.ts'

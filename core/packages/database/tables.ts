/**
 * The tables that queries may name. Whoever has tables adds them:
 * `declare module '@dispatch/database/tables' { interface StoredTables extends Tables {} }`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is filled elsewhere
export interface StoredTables {}

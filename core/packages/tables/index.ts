/** The tables of the core as types of queries, what is sealed in them, and how they change while the service runs. */
export { readBacklog } from './backlog.ts'
export { columns, columnsOf } from './columns.ts'
export { companyTable } from './company-table.ts'
export { followIndexes, makeIndexes } from './concurrent-indexes.ts'
export { type PreparedJobs, addJobs, keepStatement } from './jobs.ts'
export { migrateToLatest, type Migrations, type Reporting } from './migrator.ts'
export { holdBack, isLetGo } from './paused-batches.ts'
export { type SchemaState, canWorkOn, isSuperseded, noteRelease, readSchemaState, release } from './releases.ts'
export type { EventActor, InboundState, PlainForm, RunningProvider, Schedule, StepCandidate, StepError, StoredCheck, Subscriptions,
  Tables } from './schema.ts'
export { type NamedKey, findDataKey, forgetDataKey, hasDataKeys, isOfNobody, listCompanyIds, listDataKeys, listKeysInUse,
  nameDataKey } from './sealing/named-keys.ts'
export { sealRows } from './sealing/seal-rows.ts'
export { type ColumnKeys, type Queries, SealedColumns, isWithoutKey, mayHaveSealed, openRow, openText, openedTexts, sealed, sealedEvent,
  sealedText } from './sealing/sealed-columns.ts'
export { checkMasterKeys, countSecretsByMasterKey, rewrapSecrets } from './sealing/sealed-secrets.ts'
export { type DataKeys, type KeyPlace, createDataKeys, noDataKeys, rememberedFor, renewDataKeys,
  rewrapDataKeys } from './sealing/data-keys.ts'

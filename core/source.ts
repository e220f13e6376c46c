/**
 * `@dispatch/core/source`: what features use that bring providers, or look at which processes live.
 */
export { configurationsRefusedBy, configurationsServed, migrateConfiguration, type ServedConfiguration } from './configuration/migration.ts'
export { replaceSettings, type MigratedSettings } from './store/configuration/migrated-settings.ts'
export { listProcesses, type ProviderProcess } from './store/vendor/provider-processes.ts'
export { lockAdapter, type ProviderSource } from './store/configuration/provider-sources.ts'

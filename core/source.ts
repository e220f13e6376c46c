/**
 * `@dispatch/core/source`: what a feature that brings providers uses of the core, by name.
 */
export { configurationsRefusedBy, configurationsServed, migrateConfiguration, type ServedConfiguration } from './configuration/migration.ts'
export { replaceSettings, type MigratedSettings } from './store/configuration/migrated-settings.ts'
export { listProcesses, type ProviderProcess } from './store/vendor/provider-processes.ts'
export { lockAdapter, type ProviderSource } from './store/configuration/provider-sources.ts'

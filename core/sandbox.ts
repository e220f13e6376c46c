/**
 * `@dispatch/core/sandbox`: what the sandbox uses of the host, by name. It gives back an {@link InstalledProvider}, as the host's own
 * loading does.
 */
export { deliveryServices, type DeliveryService } from './contract/delivery.ts'
export { observe, errorMessageOf } from '@dispatch/common'
export { type ServiceName, serviceNames } from '@dispatch/services'
export { AdapterEnded } from './host/contain/adapter-ended.ts'
export { failureError } from '@dispatch/vendor-io/outcome'
export { LoadTimeout, ProviderLoadError } from './host/load/load-error.ts'
export { createRedactor, innerBase64, mapTexts, marker, patternOf, writtenForms, createOwnDocuments, type OwnDocuments, askOf,
  type FitToReply, credentialsOf, isInFolder } from '@dispatch/vendor-io'
export { runAs, runAsHost } from './host/contain/stray-errors.ts'
export type { InstalledProvider } from './host/load/load.ts'
export { readPackage } from './host/load/package.ts'
export { deriveManifest } from './host/manifest/derive.ts'
export type { Manifest } from './host/manifest/manifest.ts'
export type { AnyProviderCheck } from './host/manifest/provider-check.ts'
export { type Caller, type EventReader, isVerb, type Verb, type VerbName, verbNames } from './host/manifest/verbs.ts'
export { readMigrated, type SettingsMigration } from './host/settings/migration.ts'
export { computedNames, type SettingsSchema } from './host/settings/settings-schema.ts'
export { splitSecrets } from './host/settings/settings.ts'

/**
 * `@dispatch/sandbox`: providers in processes of their own, behind walls. They have the interface that they have in the service.
 */
export { createLazySandbox, type LazySandbox } from './lazy.ts'
export { createSandbox, type ProviderFiles, type Sandbox, type SandboxOptions, type SandboxState } from './provider.ts'
export { gapsInWords, type Reach } from './walls.ts'

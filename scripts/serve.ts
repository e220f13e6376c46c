/** Runs the service until it is told to stop: `npm start`. */
import { assertNode } from './node-version.mjs'

assertNode()
// Imported only after the version check, because an older Node cannot even link these modules.
await import('./compile-cache.mjs')
const { runService } = await import('./service.ts')
await runService(process.env, 'serve')

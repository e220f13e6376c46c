/** Runs jobs of a service's queue until it is told to stop: `npm run worker`. */
import { assertNode } from './node-version.mjs'

assertNode()
// Imported only after the version check, because an older Node cannot even link these modules.
await import('./compile-cache.mjs')
const { runService } = await import('./service.ts')
await runService(process.env, 'work')

/** Works on the queue of a service until it is told to stop: `npm run worker`. */
import { assertNode } from './node-version.mjs'

assertNode()
// Only now: what the service imports, an older Node cannot even link.
const { runService } = await import('./service.ts')
await runService(process.env, 'work')

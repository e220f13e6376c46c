/** Runs the service until it is told to stop: `npm start`. */
import { assertNode } from './node-version.mjs'

assertNode()
// Only now: what the service imports, an older Node cannot even link.
const { runService } = await import('./service.ts')
await runService(process.env, 'serve')

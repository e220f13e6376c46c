import inspector from 'node:inspector'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import v8 from 'node:v8'

/** What reaches past the process of an adapter, or past what Node permits and V8 was started with: names of functions by their object. */
const names: readonly (readonly [object, readonly string[]])[] = [
  [process, [
    ...['kill', '_kill', 'abort', 'execve', 'dlopen', 'binding', '_linkedBinding', 'loadEnvFile', 'report'],
    ...['setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups'],
    ...['_debugProcess', '_debugEnd', '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier']
  ]],
  [v8, ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit', 'writeHeapSnapshot', 'startCpuProfile', 'takeCoverage', 'stopCoverage']],
  [os, ['setPriority']],
  [inspector, ['open', 'close', 'url', 'waitForDebugger', 'Session']]
]

/** Takes functions away that an adapter has no use for: where the system itself holds nothing, they are the shortest ways out. */
export function removeFunctions (): void {
  for (const [object, functions] of names) {
    for (const name of functions) {
      if (!Reflect.deleteProperty(object, name)) throw new Error(`"${name}" cannot be taken away.`)
    }
  }
  // What was imported by name is not there either.
  syncBuiltinESMExports()
}

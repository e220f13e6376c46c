import type { Queue } from '@dispatch/queue'
import t from 'tap'
import { memoryLog } from '../../../../../test/fixtures/providers/call.ts'
import type { Database } from '../../../database/database.ts'
import { workOnCallbacks } from '../service/work.ts'

await t.test('whoever begins to work looks at once for callbacks whose jobs were lost', async (t) => {
  const found = Promise.withResolvers<undefined>()
  const kinds: string[] = []
  const queue = {
    work: (kind: string) => {
      kinds.push(kind)
      return Promise.resolve()
    }
  }
  const working = await workOnCallbacks({
    delivery: {
      deliver: () => Promise.resolve(),
      sweep: () => {
        found.resolve(undefined)
        return Promise.resolve()
      }
    },
    queue: queue as unknown as Queue,
    // No company can be read: whoever is to be warned waits for the next look.
    database: {} as Database,
    log: memoryLog(),
    newId: () => '',
    now: () => new Date()
  })
  await found.promise
  await working[Symbol.asyncDispose]()
  t.strictSame(kinds, ['callback'])
})

import type { Queue } from '@dispatch/queue'
import t from 'tap'
import { memoryLog } from '../../../../../test/fixtures/providers/call.ts'
import type { Database } from '../../../database/database.ts'
import { workOnCallbacks } from '../service/work.ts'

await t.test('whoever begins to work looks at once for callbacks whose jobs were lost, to addresses and to endpoints', async (t) => {
  const found = Promise.withResolvers<undefined>()
  const looked: string[] = []
  const receivers = (name: string) => ({
    deliver: () => Promise.resolve(),
    sweep: () => {
      looked.push(name)
      if (looked.length === 2) found.resolve(undefined)
      return Promise.resolve()
    }
  })
  const kinds: string[] = []
  const queue = {
    work: (kind: string) => {
      kinds.push(kind)
      return Promise.resolve()
    }
  }
  const working = await workOnCallbacks({
    callbacks: receivers('addresses'),
    endpointCallbacks: receivers('endpoints'),
    queue: queue as unknown as Queue,
    // No company can be read: whoever is to be warned waits for the next look.
    database: {} as Database,
    log: memoryLog(),
    newId: () => '',
    now: () => new Date()
  })
  await found.promise
  await working[Symbol.asyncDispose]()
  t.strictSame(looked.sort(), ['addresses', 'endpoints'])
  t.strictSame(kinds, ['callback'])
})

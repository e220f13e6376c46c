import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { DatabaseUnavailable } from '../../database/unavailable.ts'
import { createBatchLog } from '../logs/batch-log.ts'

await t.test('rows that the database refuses are lost and told, and keep no others back; where it is away they are kept', async (t) => {
  const written: number[][] = []
  const warned: string[] = []
  let away = true
  const log = createBatchLog<number, number>('the log', (entry) => entry, {
    batch: 2,
    pause: 1,
    log: { warn: (facts, message) => warned.push(`${JSON.stringify(facts)} ${message}`) },
    write: (rows) => {
      if (away) return Promise.reject(new DatabaseUnavailable('away'))
      if (rows.includes(13)) return Promise.reject(new Error('invalid input syntax'))
      written.push([...rows])
      return Promise.resolve()
    }
  })
  for (const entry of [1, 13]) log.add(entry)
  await log.close()
  t.strictSame(written, [])
  away = false
  for (const entry of [2, 3, 4]) log.add(entry)
  await log.close()
  t.strictSame(written, [[2, 3], [4]])
  contains(t, warned.at(-1) ?? '', '"lost":2} the log lacks entries: the database refused them')
})

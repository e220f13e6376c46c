import { DispatchError, type Version } from '@dispatch/contract'
import { Readable } from 'node:stream'
import t from 'tap'
import { asCsv, asNdjson } from '../service/results.ts'
import { problemOf } from '../service/row.ts'

await t.test('the reason of an error stays with its row; clients of an older version read none', async (t) => {
  const problem = problemOf(new DispatchError('forbidden', 'No.', { reason: 'needs_service' }))
  t.strictSame(problem, { error: 'forbidden', message: 'No.', reason: 'needs_service' })
  const rowsIn = async (version: Version): Promise<unknown[]> => {
    const pages = Readable.from([[{ row: 1, status: 'refused', problem }, { row: 2, status: 'waiting' }]])
    return (await Array.fromAsync(asNdjson(pages, version))).join('').trim().split('\n').map((line): unknown => JSON.parse(line))
  }
  const csvIn = async (version: Version): Promise<string> =>
    (await Array.fromAsync(asCsv(Readable.from([[{ row: 1, status: 'refused', problem }, { row: 2, status: 'waiting' }]]), version))).join(
      ''
    )
  t.equal(await csvIn('1.1.0'),
    'row,id,status,dispatchId,error,message,reason\r\n1,,refused,,forbidden,No.,needs_service\r\n2,,waiting,,,,\r\n')
  t.equal(await csvIn('1.0.1'), 'row,id,status,dispatchId,error,message\r\n1,,refused,,forbidden,No.\r\n2,,waiting,,,\r\n')
  t.strictSame(await rowsIn('1.1.0'), [{ row: 1, status: 'refused', problem }, { row: 2, status: 'waiting' }])
  t.strictSame(await rowsIn('1.0.1'), [{ row: 1, status: 'refused', problem: { error: 'forbidden', message: 'No.' } }, {
    row: 2,
    status: 'waiting'
  }])
})

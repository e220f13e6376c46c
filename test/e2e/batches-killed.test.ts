import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { admin, seededEnvironment } from '../support/service.ts'
import { dataDirectory, send, startReady, stop } from './support/process.ts'

const rows = 300
const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`

void t.test('a batch goes on after kill -9, while it is checked and while it is sent: no row is lost, none is sent twice', async (t) => {
  const starting = { dataDirectory: dataDirectory(t), env: await seededEnvironment(t) }
  let service = await startReady(t, starting)
  const body = Array.from({ length: rows },
    (_, row) => JSON.stringify({ sms: { phoneNumber: '+33612345678', message: `Row ${row}` }, metadata: { row: String(row) } })).join('\n')
  const taken = await fetch(`${service.url()}/api/v1/batches?service=sms`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    body
  })
  t.equal(taken.status, 202)
  const { batchId } = await taken.json() as { batchId: string }
  const read = async (): Promise<any> => (await send(service.url(), 'GET', `/api/v1/batches/${batchId}`)).body
  const killedWhen = async (isTime: (batch: any) => boolean): Promise<void> => {
    while (!isTime(await read())) await pause(5)
    process.kill(service.pid, 'SIGKILL')
    await service.ended
    service = await startReady(t, starting)
  }
  await killedWhen(({ counts }) => counts.unchecked < rows)
  await killedWhen(({ counts }) => counts.succeeded > 0)
  await killedWhen(({ counts }) => counts.succeeded > rows / 2)
  let batch = await read()
  while (batch.status !== 'finished') {
    await pause(50)
    batch = await read()
  }
  const { succeeded, uncertain } = batch.counts as Record<'succeeded' | 'uncertain', number>
  t.equal(succeeded + uncertain, rows, 'each row has an end')
  const sent: string[] = []
  for (let cursor = ''; cursor !== 'null';) {
    const { body: page } = await send(service.url(), 'GET', `/api/v1/dispatches?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`)
    sent.push(...page.data.map(({ metadata }: any) => metadata.row as string))
    cursor = String(page.nextCursor)
  }
  t.same(sent.map(Number).sort((one, other) => one - other), Array.from({ length: rows }, (_, row) => row), 'and one dispatch')
  await stop(service)
})

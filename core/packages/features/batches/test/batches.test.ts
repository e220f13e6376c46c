import { createLocalFiles } from '@dispatch/files'
import { renewDataKeys } from '@dispatch/tables'
import { sql } from 'kysely'
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { languages } from '../../../../../plugins/console/language/language.ts'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { admin, type Answer, invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { listOverdueDispatches } from '../../../../store/dispatch/runs.ts'
import { createVendor, vendorNetwork } from '../../../conformance/vendor/vendor.ts'
import { readBacklog } from '../../../tables/backlog.ts'
import { stateWord, wordsOf } from '../pages/words.ts'
import { createBatches, maxBytes, maxRows } from '../service/batches.ts'
import { listKeptRows } from '../store/row-facts.ts'
import { changeRows } from '../store/rows.ts'
import { tablesIn } from '../store/tables.ts'

const receiver = await createVendor()
const keys = join(t.testdir(), 'keys')
const service = await startService(t, {
  config: { dataKeys: { folder: keys } },
  replacements: { network: vendorNetwork(receiver), renderer: quickRenderer }
})
t.teardown(receiver.close)
const { send, app } = service
const { owner } = app.get('database')
const path = '/api/v1/batches'
const ndjson = { 'content-type': 'application/x-ndjson' }

const refusedNumber = '+15005550001'
const text = (message: string, phoneNumber = '+33612345678'): object => ({ sms: { phoneNumber, message } })
const lines = (...rows: readonly unknown[]): string =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('')
const take = (body: string | Buffer, query = 'service=sms', headers: Record<string, string> = {}, login?: Login): Promise<Answer> =>
  send('POST', `${path}?${query}`, { body: Buffer.from(body), headers: { ...ndjson, ...headers } }, login)
const read = async (id: string, login?: Login): Promise<any> => (await send('GET', `${path}/${id}`, {}, login)).body
const results = async (id: string, query = ''): Promise<any[]> =>
  String((await send('GET', `${path}/${id}/results${query}`)).body).split('\n').filter((line) => line !== '').map((line) =>
    JSON.parse(line)
  )
const act = (id: string, action: string, login?: Login): Promise<Answer> => send('POST', `${path}/${id}/${action}`, {}, login)

/** Waits until a batch has this status. */
async function reaches (id: string, ...statuses: string[]): Promise<any> {
  let batch: any
  await until(`the batch is ${statuses.join(' or ')}`, async () => statuses.includes((batch = await read(id)).status))
  return batch
}
const dispatchesOf = async (): Promise<number> => {
  const { body } = await send('GET', '/api/v1/dispatches?limit=100')
  return body.data.length as number
}
function form (parts: Record<string, string>, file: string, name: string): { body: string, headers: Record<string, string> } {
  const texts = Object.entries(parts).map(([field, value]) =>
    `--edge\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`
  )
  return {
    body: `${texts.join('')}--edge\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${file}\r\n--edge--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=edge' }
  }
}
const sendForm = (parts: Record<string, string>, file: string, name = 'rows.csv', query = 'service=sms'): Promise<Answer> =>
  send('POST', `${path}?${query}`, form(parts, file, name))

await t.test('rows are checked, sent and counted; the results tell of each by its number', async (t) => {
  const taken = await take(lines(text('one'), { id: 'two', ...text('two') }, text('three', refusedNumber)))
  has(t, taken, {
    status: 202,
    body: { status: 'checking', service: 'sms', mode: 'all', counts: { total: 3, unchecked: 3 }, credits: null, finishedAt: null }
  })
  const { batchId } = taken.body
  t.equal(taken.headers.get('location'), `${path}/${batchId}`)
  const batch = await reaches(batchId, 'finished')
  has(t, batch, { counts: { total: 3, waiting: 0, running: 0, succeeded: 2, failed: 1, refused: 0 }, finishedAt: /^\d{4}-/ })
  const rows = await results(batchId)
  has(t, rows, [{ row: 1, status: 'succeeded' }, { row: 2, id: 'two', status: 'succeeded' }, { row: 3, status: 'failed' }])
  const { body: dispatch } = await send('GET', `/api/v1/dispatches/${rows[1].dispatchId}`)
  has(t, dispatch, { status: 'succeeded' })
  has(t, await results(batchId, '?status=failed'), [{ row: 3 }])
  const csv = await send('GET', `${path}/${batchId}/results?format=csv`)
  t.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  contains(t, csv.body, /^row,id,status,dispatchId,error,message\r\n1,,succeeded,[-\w]{36},,\r\n2,two,/)
  has(t, (await send('GET', `${path}?limit=1`)).body, { data: [{ batchId }] })
})

await t.test('one faulty row refuses the batch, or only itself where the mode says so', async (t) => {
  const before = await dispatchesOf()
  const body = lines(text('one'), '{"sms": broken', text('three', 'none'), '[]', text('five'))
  const all = await reaches((await take(body)).body.batchId, 'refused')
  has(t, all, {
    counts: { total: 5, refused: 3, cancelled: 2, waiting: 0 },
    problem: { error: 'validation_failed', message: '3 of 5 rows have faults, and nothing is sent: the results tell which.' }
  })
  has(t, await results(all.batchId), [
    { row: 1, status: 'cancelled' },
    { row: 2, status: 'refused', problem: { error: 'validation_error', details: [{ code: 'unreadable' }] } },
    { row: 3, status: 'refused', problem: { details: [{ path: '/sms/phoneNumber' }] } },
    { row: 4, status: 'refused', problem: { details: [{ code: 'type' }] } },
    { row: 5, status: 'cancelled' }
  ])
  t.equal(await dispatchesOf(), before, 'nothing was sent')
  const valid = await reaches((await take(body, 'service=sms&mode=valid')).body.batchId, 'finished')
  has(t, valid, { counts: { succeeded: 2, refused: 3 } })
  t.equal(await dispatchesOf(), before + 2)
})

await t.test('a row whose time has passed before it comes is refused', async (t) => {
  const before = await dispatchesOf()
  const past = { ...text('too late'), sendAt: new Date(Date.now() - 86_400_000).toISOString() }
  const { body: { batchId } } = await take(lines(past), 'service=sms', { 'x-api-version': '1.1.0' })
  await reaches(batchId, 'refused')
  has(t, await results(batchId), [{ status: 'refused', problem: { details: [{ path: '/sendAt', code: 'in_the_past' }] } }])
  t.equal(await dispatchesOf(), before)
})

await t.test('a batch and its rows have idempotency keys', async (t) => {
  const body = lines({ id: 'row-1', ...text('one') }, { id: 'row-2', ...text('two') })
  const key = { 'x-idempotency-key': 'batch-1' }
  const first = await take(body, 'service=sms', key)
  await reaches(first.body.batchId, 'finished')
  const again = await take(body, 'service=sms', key)
  has(t, again, { status: 202, body: { batchId: first.body.batchId, status: 'finished' } })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  has(t, await take(lines(text('other')), 'service=sms', key), { status: 422, body: { error: 'idempotency_key_reused' } })
  has(t, await take(body, 'service=sms&mode=valid', key), { status: 422, body: { error: 'idempotency_key_reused' } })
  const before = await dispatchesOf()
  const repeated = await reaches((await take(body)).body.batchId, 'finished')
  const [one, other] = [await results(first.body.batchId), await results(repeated.batchId)]
  t.strictSame(other.map(({ dispatchId }) => dispatchId), one.map(({ dispatchId }) => dispatchId), 'a repeated row is a replay')
  t.equal(await dispatchesOf(), before)
  const twice = await reaches((await take(lines({ id: 'same', ...text('a') }, { id: 'same', ...text('b') }))).body.batchId, 'refused')
  has(t, await results(twice.batchId), [{ status: 'cancelled' }, { status: 'refused', problem: { details: [{ code: 'repeated_id' }] } }])
})

await t.test('what is tried as a test is sent for good afterwards: the ids of its rows are of tests alone', async (t) => {
  const body = lines({ id: 'tried', ...text('one') })
  const sent = async (query: string): Promise<string> => {
    const [{ dispatchId }] = await results((await reaches((await take(body, query)).body.batchId, 'finished')).batchId)
    return String(dispatchId)
  }
  const tried = await sent('service=sms&sandbox=true')
  t.equal(await sent('service=sms&sandbox=true'), tried, 'a repeated test is a replay')
  const real = await sent('service=sms')
  t.not(real, tried)
  t.notOk('test' in (await send('GET', `/api/v1/dispatches/${real}`)).body)
})

await t.test('CSV is mapped, whatever its separator and its mark; rows change a common body', async (t) => {
  const mapping = JSON.stringify({ Number: '/id', Mobile: '/sms/phoneNumber', Text: '/sms/message', Order: '/metadata/orderId' })
  const file = '\ufeffNumber;Mobile;Text;Ignored;Order\r\nA-1;+33612345678;"Hello; ""you""\nthere";x;\r\nA-2;+33612345679;Bye;y;O-2\r\n'
  const taken = await sendForm({ mapping }, file)
  has(t, taken, { status: 202, body: { counts: { total: 2, refused: 0 } } })
  await reaches(taken.body.batchId, 'finished')
  const rows = await results(taken.body.batchId)
  has(t, rows, [{ row: 1, id: 'A-1', status: 'succeeded' }, { row: 2, id: 'A-2', status: 'succeeded' }])
  has(t, (await send('GET', `/api/v1/dispatches/${rows[1].dispatchId}`)).body, { metadata: { orderId: 'O-2' } })
  const plain = await send('POST', `${path}?service=sms`, {
    body: 'id,/sms/phoneNumber,/sms/message\nB-1,+33612345678,Hi\n',
    headers: { 'content-type': 'text/csv' }
  })
  has(t, await reaches(plain.body.batchId, 'finished'), { counts: { succeeded: 1 } })
  const common = JSON.stringify(text('The same for all'))
  const changed = await sendForm({ common, mapping: JSON.stringify({ mobile: '/sms/phoneNumber' }) },
    'mobile\n+33612345671\n+33612345672\n')
  has(t, await reaches(changed.body.batchId, 'finished'), { counts: { succeeded: 2 } })
  const first = await take(lines({ common: text('From the first line') }, { sms: { phoneNumber: '+33612345671' } }, {}))
  has(t, await reaches(first.body.batchId, 'finished'), { counts: { total: 2, succeeded: 2 } })
})

await t.test('cells are texts, numbers, true or false, or JSON, and rows of lists', async (t) => {
  const { template } = invoiceRequest() as any
  const data = { ...template.data, lines: undefined }
  const [line] = template.data.lines
  const mapping = {
    number: '/template/data/invoiceNumber',
    first: { pointer: '/template/data/lines/0', type: 'json' },
    quantity: { pointer: '/template/data/lines/1/quantity', type: 'number' },
    vat: { pointer: '/template/data/lines/1/taxRate', type: 'number' }
  }
  const cell = JSON.stringify(line).replaceAll('"', '""')
  const taken = await sendForm({ common: JSON.stringify({ template: { ...template, data } }), mapping: JSON.stringify(mapping) },
    `number,first,quantity,vat\nN-1,"${cell}",,\nN-2,"${cell}",many,\n`, 'rows.csv', 'service=invoicing&mode=valid')
  has(t, taken, { status: 202 })
  const batch = await reaches(taken.body.batchId, 'finished', 'refused')
  has(t, await results(batch.batchId), [
    { row: 1 },
    { row: 2, status: 'refused', problem: { details: [{ path: '/template/data/lines/1/quantity', code: 'type' }] } }
  ])
})

await t.test('what is no such file is refused as a whole, with one clear answer', async (t) => {
  const count = async (): Promise<number> => (await send('GET', `${path}?limit=100`)).body.data.length as number
  const before = await count()
  const refused = (answer: Answer, status: number, code: string): void => {
    has(t, answer, { status })
    contains(t, JSON.stringify(answer.body), code)
  }
  refused(await take(Buffer.from('{"sms":{"message":"caf\xe9"}}', 'latin1')), 400, 'Line 1 is not UTF-8')
  refused(await take(''), 400, 'There is no row in it')
  refused(await take('\n \n'), 400, 'There is no row in it')
  refused(await take(lines(text('x')), 'service=nothing'), 400, 'names no services')
  refused(await take(lines(text('x')), 'service=sms/email'), 400, 'cannot follow')
  refused(await take(lines(text('x')), 'service=upload'), 400, 'takes a file')
  refused(await take(lines(text('x')), ''), 400, '/query/service')
  refused(await take(lines(text('x')), 'service=sms&callbackUrl=https://10.0.0.1/x'), 422, 'address_not_public')
  refused(await take(lines(text('x')), 'service=sms', { 'content-type': 'application/json' }), 415, 'multipart')
  refused(await take(lines(text('x')), 'service=sms', { 'content-type': '' }), 415, 'must be application/x-ndjson')
  refused(await take(lines(text('x')), 'service=sms', { 'content-encoding': 'gzip' }), 400, 'is no gzip')
  refused(await take(lines(text('x')), 'service=sms', { 'content-encoding': 'lzma' }), 415, 'gzip, deflate')
  refused(await take(gzipSync(Buffer.alloc(1024 * 1024, '\n')), 'service=sms', { 'content-encoding': 'gzip' }), 413, 'empty lines')
  refused(await take(gzipSync(Buffer.alloc(6 * 1024 * 1024, 'x')), 'service=sms', { 'content-encoding': 'gzip' }), 413, '5 MiB')
  refused(await sendForm({}, 'a,b\n1,2\n'), 400, 'is no JSON pointer')
  refused(await sendForm({ mapping: '{"c":"/sms/message"}' }, 'a,b\n1,2\n'), 400, 'no such column')
  refused(await sendForm({ mapping: '{"a":"sms"}' }, 'a,b\n1,2\n'), 400, 'A JSON pointer is needed')
  refused(await sendForm({ mapping: '{"a":"/__proto__/x"}' }, 'a,b\n1,2\n'), 400, 'A JSON pointer is needed')
  refused(await sendForm({ mapping: '{"a":"/sms","b":"/sms/message"}' }, 'a,b\n1,2\n'), 400, 'one inside the other')
  refused(await sendForm({ mapping: 'x' }, 'a\n1\n'), 400, '/mapping')
  refused(await sendForm({ other: 'x' }, 'a\n1\n'), 400, '/other')
  refused(await sendForm({}, lines(text('x')), 'rows.bin'), 400, 'neither CSV nor NDJSON')
  refused(await sendForm({}, `${Array.from({ length: 100_000 }, (_, at) => `/c${at}`).join()}\n`), 400, '100000 columns')
  refused(await sendForm({}, `${Array.from({ length: 100_000 }, (_, at) => `/column${at}`).join()}\n`), 413, 'The heading has more than')
  const utf16 = Buffer.from('\ufeffid;/sms/message\n1;x\n', 'utf16le')
  refused(await send('POST', `${path}?service=sms`, { body: utf16, headers: { 'content-type': 'text/csv' } }), 400, 'not UTF-8')
  t.equal(await count(), before, 'and nothing of it stays')
  const left = await owner.executeQuery({ sql: 'select from batches where status = \'receiving\'', parameters: [] } as never)
  t.equal(left.rows.length, 0)
  const heading = 'id,/sms/phoneNumber,/sms/message\n'
  refused(await sendForm({}, `${heading}1,+33612345678,a\n2,"+336"x,b\n`), 400, 'Row 2 cannot be read: a quotation mark')
  refused(await sendForm({}, `${heading}1,+33612345678,"a\r\n2,+33612345678,b\r\n`), 400, 'Row 1 cannot be read: a quotation mark')
  const short = await sendForm({}, `${heading}1,+33612345678,a\n2,+33612345678\n3,+33612345678,c\n`, 'rows.csv', 'service=sms&mode=valid')
  has(t, await reaches(short.body.batchId, 'finished'), { counts: { total: 3, succeeded: 2, refused: 1 } })
})

await t.test('who sends all of a file before reading its answer gets it, and the connection serves on', async (t) => {
  const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
  const rest = randomBytes(6 * 1024 * 1024).toString('base64')
  const files: [string, Buffer, string?][] = [
    ['is not UTF-8', Buffer.from(`/sms/message\ncaf\xe9\n${rest}`, 'latin1')],
    ['The heading has more', Buffer.from(`${'/a,'.repeat(1024 * 1024)}\n${rest}`)],
    ['Row 1 is larger', gzipSync(`/sms/message\n${'x'.repeat(6 * 1024 * 1024)}${rest}`), 'gzip']
  ]
  for (const [says, body, coding = 'identity'] of files) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.pause()
    const head = [
      `POST ${path}?service=sms HTTP/1.1`,
      'Host: localhost',
      `Authorization: ${authorization}`,
      'Content-Type: text/csv',
      `Content-Encoding: ${coding}`,
      `Content-Length: ${body.length}`
    ]
    await new Promise((resolve) => socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), resolve))
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    const answers = Buffer.concat(await socket.toArray()).toString()
    contains(t, answers, says)
    contains(t, answers, /^HTTP\/1\.1 4\d\d [^]*HTTP\/1\.1 204 /, says)
  }
})

await t.test('a batch has at most 100,000 rows and 256 MiB; what has more leaves nothing behind', async (t) => {
  t.strictSame([maxRows, maxBytes], [100_000, 268_435_456])
  const needs = {
    database: app.get('database'),
    jobs: app.get('jobs'),
    log: app.get('log'),
    network: app.get('network'),
    newId: randomUUIDv7,
    now: () => new Date()
  }
  const small = createBatches({ ...needs, limits: { rows: 3, bytes: 1024 } })
  const who = { userId: 1, companyId: 1, email: '', role: 'admin', services: ['*'] } as const
  const request = { actor: who, author: { ...who, address: '', requestId: 'limits' }, query: { service: 'sms' }, version: '1.1.0' } as const
  const takes = (format: 'csv' | 'ndjson', ...pieces: string[]) =>
    small.take(request, () => Promise.resolve({ format, bytes: Readable.from(pieces.map((piece) => Buffer.from(piece))) }))
  const row = '{}\n'
  const tooMany = { word: 'payload_too_large', message: /at most 3 rows/ }
  await t.rejects(takes('ndjson', row.repeat(3), row), tooMany)
  await t.rejects(takes('csv', 'id\n1\n2\n3\n', '4\n'), tooMany)
  const tooLarge = { word: 'payload_too_large', message: /MiB, once it is decoded/ }
  for (const format of ['csv', 'ndjson'] as const) await t.rejects(takes(format, ' '.repeat(1_024), '\n'), tooLarge)
  const left = await owner.executeQuery({ sql: 'select from batches where status = \'receiving\'', parameters: [] } as never)
  t.equal(left.rows.length, 0)
  const { batch } = await takes('ndjson', row.repeat(3))
  t.equal(batch.counts.total, 3)
})

await t.test('a batch that is held waits until it is resumed, once it is checked', async (t) => {
  const { body: { batchId } } = await take(lines(text('held')), 'service=sms&hold=true')
  has(t, await reaches(batchId, 'paused'), { counts: { waiting: 1, unchecked: 0 }, finishedAt: null })
  await act(batchId, 'resume')
  has(t, await reaches(batchId, 'finished'), { counts: { succeeded: 1 } })
})

/** The rows of batches that a connection has read, also for transactions that have ended and are not counted elsewhere yet. */
async function readSoFar (queries: Parameters<typeof tablesIn>[0]): Promise<number> {
  const { rows: [read] } = await sql<{ rows: number }>`select (seq_tup_read + idx_tup_fetch)::integer as rows
    from pg_stat_xact_user_tables where relname = 'batch_rows'`.execute(queries)
  return read?.rows ?? NaN
}

await t.test('what has become of some rows is recorded without reading all others of a batch', async (t) => {
  const { body: { batchId } } = await take(lines(...Array.from({ length: 400 }, () => text('held'))), 'service=sms&hold=true')
  await reaches(batchId, 'paused')
  const database = app.get('database')
  let reads = 0
  const counting: typeof database = {
    ...database,
    company: (companyId, work) =>
      database.company(companyId, async (queries) => {
        // With one plan alone, whatever the statistics say and however often the connection has planned it: by the index, then a hash.
        await sql`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config(name, 'off', true)
          from unnest(array['enable_seqscan', 'enable_bitmapscan', 'enable_nestloop', 'enable_mergejoin']) as name`.execute(queries)
        const before = await readSoFar(queries)
        const made = await work(queries)
        reads = await readSoFar(queries) - before
        return made
      })
  }
  const { company_id: companyId } = await tablesIn(owner).selectFrom('batches').select('company_id').where('batch_id', '=', batchId)
    .executeTakeFirstOrThrow()
  const changes = Array.from({ length: 10 }, (_, at) => ({ number: 301 + at, from: 'waiting' as const, to: 'cancelled' as const }))
  has(t, await changeRows(counting, { companyId, batchId }, changes), { waiting: 390, cancelled: 10 })
  t.ok(reads >= 10 && reads < 100, `${reads} rows were read for 10`)
  await act(batchId, 'cancel')
})

await t.test('a batch is paused, goes on, and is cancelled; what failed is sent again', async (t) => {
  const { body: { batchId } } = await take(lines(...Array.from({ length: 40 }, (_, row) => text(`row ${row}`))))
  has(t, await act(batchId, 'pause'), { status: 200, body: { status: 'paused' } })
  has(t, await act(batchId, 'pause'), { status: 409, body: { error: 'conflict' } })
  has(t, await act(batchId, 'retry'), { status: 409 })
  has(t, await act(batchId, 'resume'), { status: 200, body: { status: /checking|queued|running/ } })
  has(t, await reaches(batchId, 'finished'), { counts: { succeeded: 40 } })
  has(t, await act(batchId, 'cancel'), { status: 409 })
  const other = (await take(lines(...Array.from({ length: 40 }, () => text('cancelled'))))).body.batchId
  has(t, await act(other, 'cancel'), { status: 200, body: { status: 'cancelled', counts: { waiting: 0, unchecked: 0 } } })
  const { counts } = await read(other) as { counts: Record<'cancelled' | 'succeeded' | 'running', number> }
  t.equal(counts.cancelled + counts.succeeded + counts.running, 40)
  const failed = await reaches((await take(lines(text('a', refusedNumber), text('b')))).body.batchId, 'finished')
  has(t, failed.counts, { failed: 1, succeeded: 1 })
  const { post, signIn } = openConsole(service)
  const question = (await post(`/batches/${String(failed.batchId)}/retry`, {}, await signIn())).body
  contains(t, question, `<dt>${stateWord(wordsOf(languages.en), 'failed')}</dt><dd>1</dd>`, 'who sends again is asked, with how many rows')
  lacks(t, question, `<dt>${stateWord(wordsOf(languages.en), 'succeeded')}</dt>`)
  const { rows: [row] } = await sql`update batches set partial = 2, failed = 0 where batch_id = ${failed.batchId} returning partial`
    .execute(owner)
  has(t, row, { partial: 2 })
  const ofParts = (await post(`/batches/${String(failed.batchId)}/retry`, {}, await signIn())).body
  contains(t, ofParts, `<dt>${stateWord(wordsOf(languages.en), 'partial')}</dt><dd>2</dd>`, 'rows that were sent in part are among them')
  await sql`update batches set partial = 0, failed = 1 where batch_id = ${failed.batchId}`.execute(owner)
  has(t, await act(failed.batchId, 'retry'), { status: 200, body: { status: 'running', counts: { waiting: 1, failed: 0 } } })
  const again = await reaches(failed.batchId, 'finished')
  has(t, again.counts, { failed: 1, succeeded: 1 }, 'it fails again')
  const [{ dispatchId }] = await results(failed.batchId)
  const { body: { data: events } } = await send('GET', `/api/v1/dispatches/${dispatchId}/events`)
  t.ok(events.some(({ kind }: any) => kind === 'resumed'), 'as the same dispatch')
  const { body: { data: audit } } = await send('GET', '/api/v1/audit?limit=100')
  const actions = audit.map(({ action }: any) => action)
  for (const action of ['batch.paused', 'batch.resumed', 'batch.cancelled', 'batch.retried']) t.ok(actions.includes(action), action)
})

await t.test('rows that are queued for their time are cancelled with their batch', async (t) => {
  const sendAt = new Date(Date.now() + 86_400_000).toISOString()
  const rows = Array.from({ length: 3 }, (_, row) => ({ ...text(`row ${row}`), sendAt }))
  const { body: { batchId } } = await take(lines(...rows), 'service=sms', { 'x-api-version': '1.1.0' })
  await until('all rows are queued', async () => (await read(batchId)).counts.running === 3)
  // A row that is just handed to the queue has no dispatch yet.
  await until('the first one has its dispatch', async () => (await results(batchId))[0]?.dispatchId !== undefined)
  const [{ dispatchId }] = await results(batchId)
  t.equal((await act(batchId, 'cancel')).status, 200)
  await until('none is queued', async () => (await read(batchId)).counts.running === 0)
  has(t, await read(batchId), { status: 'cancelled', counts: { cancelled: 3 } })
  has(t, (await send('GET', `/api/v1/dispatches/${String(dispatchId)}`)).body, { status: 'cancelled', creditsCharged: 0 })
})

await t.test('rows with a time ask the database for its own once in a turn, not each by itself', async (t) => {
  const database = app.get('database')
  const { time } = database
  let times = 0
  database.time = () => {
    times++
    return time()
  }
  t.teardown(() => Object.assign(database, { time }))
  const rows = Array.from({ length: 12 }, (_, row) => ({ ...text(`row ${row}`), sendAt: new Date(Date.now() + 86_400_000).toISOString() }))
  const { body: { batchId } } = await take(lines(...rows), 'service=sms', { 'x-api-version': '1.1.0' })
  await until('all of them wait for their time', async () => {
    const { counts } = await read(batchId)
    return counts.running === rows.length
  })
  t.ok(times < rows.length, `${times} times`)
  t.equal((await act(batchId, 'cancel')).status, 200)
})

await t.test('while a batch is paused, nothing of it begins that is queued, also for its time; then it does', async (t) => {
  const sendAt = new Date(Date.now() + 86_400_000).toISOString()
  const { body: { batchId } } = await take(lines({ ...text('later'), sendAt }), 'service=sms', { 'x-api-version': '1.1.0' })
  await until('it is queued', async () => (await results(batchId))[0]?.dispatchId !== undefined)
  const [{ dispatchId }] = await results(batchId)
  t.equal((await act(batchId, 'pause')).status, 200)
  const due = sql`update dispatches set next_try_at = now() - interval '1 hour' where dispatch_id = ${dispatchId}`
  await due.execute(owner)
  const { company_id: companyId } = await owner.selectFrom('dispatches').select('company_id').where('dispatch_id', '=', dispatchId)
    .executeTakeFirstOrThrow()
  const begin = (): Promise<unknown[]> => app.get('pipeline').beginQueued([{ companyId, dispatchId }])
  t.same(await begin(), [])
  t.same(await listOverdueDispatches(app.get('database'), { seconds: 30, limit: 100 }), [], 'the sweep leaves it alone')
  const { dispatches: { queued } } = await readBacklog(app.get('database'))
  t.equal((await act(batchId, 'resume')).status, 200)
  await reaches(batchId, 'finished')
  has(t, (await send('GET', `/api/v1/dispatches/${String(dispatchId)}`)).body, { status: 'succeeded' })
  t.equal(queued, 0, 'nor does it count as one that is late')
})

await t.test('a paused batch rests; where it is cancelled, nothing begins of what was due meanwhile', async (t) => {
  const sendAt = new Date(Date.now() + 86_400_000).toISOString()
  const { body: { batchId } } = await take(lines({ ...text('never'), sendAt }), 'service=sms', { 'x-api-version': '1.1.0' })
  await until('it is queued', async () => (await results(batchId))[0]?.dispatchId !== undefined)
  const [{ dispatchId }] = await results(batchId)
  t.equal((await act(batchId, 'pause')).status, 200)
  const { rows: [{ companyId }] } = await sql<any>`update dispatches set next_try_at = now() - interval '1 hour'
    where dispatch_id = ${dispatchId} returning company_id as "companyId"`.execute(owner)
  await until('others are worked on before it',
    async () =>
      (await sql`select from batches where batch_id = ${batchId} and claim is null and claimed_until > now() + interval '1 second'`
        .execute(owner)).rows.length === 1)
  t.equal((await act(batchId, 'cancel')).status, 200)
  t.same(await app.get('pipeline').beginQueued([{ companyId, dispatchId }]), [])
  await until('none is queued', async () => (await read(batchId)).counts.running === 0)
  has(t, await read(batchId), { status: 'cancelled', counts: { cancelled: 1 } })
  await until('it is over',
    async () => (await sql`select from paused_batches where batch_id = ${batchId}`.execute(owner)).rows.length === 0)
})

await t.test('a batch leaves places to what its company asks for singly, which goes before it', async (t) => {
  const slow = '+15005550004'
  const { body: { batchId } } = await take(lines(...Array.from({ length: 40 }, () => text('slow', slow))))
  await until('rows are under way', async () => (await read(batchId)).counts.running > 0)
  const { body: { dispatchId } } = await send('POST', '/api/sms?async=true', { body: text('at once') })
  await until('the single one has ended', async () => (await send('GET', `/api/v1/dispatches/${dispatchId}`)).body.status === 'succeeded')
  const { counts } = await read(batchId)
  t.ok(counts.waiting > 0, 'while rows wait')
  t.ok(counts.running <= 12, `${counts.running} are under way`)
  const { status } = await act(batchId, 'cancel')
  t.equal(status, 200)
})

await t.test('a callback tells of each tenth and of the end', async (t) => {
  receiver.requests.length = 0
  const url = 'https://client.acme.test/batches'
  const { body: { batchId } } = await take(lines(...Array.from({ length: 30 }, () => text('told'))), `service=sms&callbackUrl=${url}`)
  await reaches(batchId, 'finished')
  const reported = (): any[] => receiver.requests.filter(({ host }) => host === 'client.acme.test').map(({ json }) => json)
  await until('its end is told', () => Promise.resolve(reported().some(({ type }) => type === 'batch.finished')))
  // One may come twice, as it is: its receiver knows it by that.
  const all = [...new Map(reported().map((one) => [JSON.stringify(one), one])).values()].sort((one, other) => one.sequence - other.sequence)
  has(t, all.at(-1), { type: 'batch.finished', data: { batchId, status: 'finished', counts: { succeeded: 30 } } })
  const progress = all.filter(({ type }) => type === 'batch.progress')
  t.ok(progress.length >= 1 && progress.length <= 9, `${progress.length} on the way`)
  t.equal(new Set(all.map(({ sequence }) => sequence)).size, all.length, 'each with a number of its own')
})

await t.test('the price of all rows is checked before one is sent, and a batch waits for credits that others took', async (t) => {
  const company = await service.company('poor', { credits: 3 })
  const body = lines(...Array.from({ length: 5 }, (_, at) => invoiceRequest({ invoiceNumber: `P-${at}` }, { providerName: 'simulator' })))
  const { body: { batchId } } = await take(body, 'service=invoicing', {}, company.admin)
  let batch: any
  await until('it is refused', async () => (batch = await read(batchId, company.admin)).status === 'refused')
  has(t, batch, { problem: { error: 'insufficient_credits' }, counts: { cancelled: 5, refused: 0 } })
})

await t.test('nobody sees or changes what is not theirs', async (t) => {
  const { body: { batchId } } = await take(lines(text('mine')))
  const other = await service.company('other')
  for (const end of ['', '/results']) t.equal((await send('GET', `${path}/${batchId}${end}`, {}, other.admin)).status, 404)
  for (const action of ['pause', 'resume', 'cancel', 'retry']) t.equal((await act(batchId, action, other.admin)).status, 404)
  has(t, (await send('GET', path, {}, other.admin)).body, { data: [], nextCursor: null })
  const keyOf = async (body: object) => {
    const made = await send('POST', '/api/v1/keys', { body: { name: 'key', ...body } })
    return { authorization: `Bearer ${made.body.key as string}` }
  }
  const [test, ofFile, own] = [
    await keyOf({ mode: 'test' }),
    await keyOf({ mode: 'live', scopes: ['send', 'read_all'], services: ['file'] }),
    await keyOf({ mode: 'live', scopes: ['read_own'] })
  ]
  const get = async (headers: Record<string, string>, id = batchId): Promise<number> =>
    (await send('GET', `${path}/${id}`, { headers }, null)).status
  t.strictSame([await get(test), await get(ofFile), await get(own)], [404, 404, 200])
  const ask = (headers: Record<string, string>): Promise<Answer> =>
    send('POST', `${path}?service=sms`, { body: Buffer.from(lines(text('x'))), headers: { ...ndjson, ...headers } }, null)
  has(t, await ask(ofFile), { status: 403 })
  has(t, await ask(own), { status: 403 })
  const tested = await ask(test)
  has(t, tested, { status: 202, body: { test: true } })
  await reaches(tested.body.batchId, 'finished')
  const [{ dispatchId }] = await results(tested.body.batchId)
  has(t, (await send('GET', `/api/v1/dispatches/${dispatchId}`)).body, { test: true })
})

await t.test('a revoked key stops what it has sent', async (t) => {
  const { body: { key, id } } = await send('POST', '/api/v1/keys', { body: { name: 'leaked', mode: 'live', scopes: ['send'] } })
  const { body: { batchId } } = await send('POST', `${path}?service=sms`, {
    body: Buffer.from(lines(...Array.from({ length: 200 }, () => text('x')))),
    headers: { ...ndjson, authorization: `Bearer ${String(key)}` }
  }, null)
  await send('POST', `/api/v1/batches/${batchId}/pause`)
  await send('DELETE', `/api/v1/keys/${String(id)}`)
  await send('POST', `/api/v1/batches/${batchId}/resume`)
  has(t, await reaches(batchId, 'paused'), { problem: { error: 'forbidden' } })
  for (const [version, reason] of [['1.1.0', 'disabled'], ['1.0.1', undefined]] as const) {
    const { body } = await send('GET', `${path}/${batchId}`, { headers: { 'x-api-version': version } })
    matches(t, body.problem, { error: 'forbidden', message: String, reason }, version)
  }
})

await t.test('no value of a row can be a formula in a spreadsheet', async (t) => {
  const { body: { batchId } } = await take(lines({ id: '=cmd()', ...text('x', 'none') }), 'service=sms&mode=valid')
  await reaches(batchId, 'refused')
  const { body } = await send('GET', `${path}/${batchId}/results?format=csv`)
  contains(t, body, '1,\'=cmd(),refused')
  lacks(t, body, ',=')
})

await t.test('a batch that cannot be opened can be seen and cancelled; it ends with a problem where its data key is lost', async (t) => {
  const { companyId, admin } = await service.company('keyless')
  await send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'simulator' } }, admin)
  const rows = lines({ common: text('Hello') }, { sms: { phoneNumber: '+33612345671' } }, { sms: { phoneNumber: '+33612345672' } })
  const taken = await Promise.all(['one', 'two', 'three'].map(() => take(rows, 'service=sms&hold=true', {}, admin)))
  const [first, second, third] = taken.map(({ body }) => String(body.batchId))
  const is = (id: string | undefined, status: string) =>
    until(`the batch is ${status}`, async () => (await read(String(id), admin)).status === status)
  for (const id of [first, second, third]) await is(id, 'paused')
  await app.get('dataKeys')?.shred(companyId)
  has(t, await act(String(first), 'cancel', admin), { status: 200, body: { status: 'cancelled' } }, 'while its key is away')
  t.equal((await act(String(second), 'resume', admin)).status, 200)
  const { body: { batchId } } = await take(lines({ sms: { phoneNumber: '+33612345673', message: 'Hello' } }))
  await reaches(String(batchId), 'finished')
  has(t, await read(String(second), admin), { status: 'queued' }, 'those of others go on meanwhile')
  t.strictSame(await renewDataKeys(app.get('database'), { place: createLocalFiles(keys) }), [companyId])
  await is(second, 'refused')
  const problem = { error: 'internal_error', message: /^Its rows were sealed under a data key that is lost/ }
  has(t, await read(String(second), admin), { counts: { cancelled: 2, waiting: 0 }, problem })
  const ref = { companyId, batchId: String(third) }
  const listed = (more: object) => listKeptRows(app.get('database'), ref, { after: 0, limit: 10, ...more })
  has(t, await listed({}), { rows: [{ number: 1, body: null }, { number: 2, body: null }], next: null }, 'its rows can be listed')
  await sql`insert into batch_rows (batch_id, company_id, number, body, state) select ${third}, ${companyId}, nth, body, 'refused'
    from batch_rows, generate_series(3, 10500) as nth where batch_id = ${third} and number = 1`.execute(owner)
  t.strictSame(await listed({ search: 'nobody' }), { rows: [], next: 10_000 }, 'a search opens so many rows at a time')
  t.strictSame(await listed({ search: 'nobody', after: 10_000 }), { rows: [], next: null })
  await sql`delete from batch_rows where batch_id = ${third} and number > 2`.execute(owner)
  await sql`update batches set status = 'checking', unchecked = 2, waiting = 0, is_open = true where batch_id = ${third}`.execute(owner)
  await sql`update batch_rows set state = 'unchecked' where batch_id = ${third}`.execute(owner)
  await is(third, 'refused')
})

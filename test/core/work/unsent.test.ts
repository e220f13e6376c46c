import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { DatabaseUnavailable } from '../../../core/packages/database/unavailable.ts'
import { recordSpooledOutcomes } from '../../../core/pipeline/run/late-outcomes.ts'
import { has } from '../../support/matching.ts'
import { readingOf } from '../../support/reading.ts'
import { seededDatabase, startService } from '../../support/service.ts'
import { until } from './support.ts'

const dataDirectory = mkdtempSync(join(tmpdir(), 'dispatch-unsent-'))
const spool = join(dataDirectory, 'outcomes')
const config = { dataDirectory, runsWorker: false, prices: { sms: 1 } }
const service = await startService(t, { databaseUrl: await seededDatabase(t), config })
t.teardown(() => {
  rmSync(dataDirectory, { recursive: true })
})
const { app, send } = service
const { dispatch: read, timeline, events, credits } = readingOf(service)
const [database, dependencies] = [app.get('database'), app.get('pipelineParts')]

const lost = new DatabaseUnavailable('away', { uncertain: true })
const { callFunction } = database

/** Sends a text whose record gets no answer from the database. */
async function unanswered (answer: typeof callFunction): Promise<string> {
  database.callFunction = answer
  try {
    const body = { sms: { phoneNumber: '+33612345678', message: 'Hello' } }
    const { status, body: { error, dispatchId } } = await send('POST', '/api/sms', { body })
    t.strictSame([status, error], [504, 'recording_unknown'])
    return dispatchId
  } finally {
    database.callFunction = callFunction
  }
}

await t.test('a dispatch whose record was committed without an answer goes on: its provider was surely not called', async (t) => {
  const before = await credits()
  const dispatchId = await unanswered(async (...called) => {
    await callFunction(...called)
    throw lost
  })
  await until('it is recorded', () => readdirSync(spool).length === 0)
  has(t, await read(dispatchId), { status: 'queued', creditsCharged: 0, steps: [{ status: 'unavailable' }] })
  t.strictSame(await timeline(dispatchId), ['planned', 'calling sms', 'failed sms'])
  has(t, await events(dispatchId, 'failed'), [{ actor: { kind: 'system' }, facts: { error: 'service_unavailable' } }])
  t.strictSame(await credits(), { balance: before.balance, held: before.held + 1 })
})

await t.test('one that was not committed is forgotten after a minute, without a word to operators', async (t) => {
  const dispatchId = await unanswered(() => Promise.reject(lost))
  const [file] = readdirSync(spool)
  await pause(1_500)
  t.strictSame(readdirSync(spool), [file], 'the database may still commit it')
  await recordSpooledOutcomes({ ...dependencies, now: () => new Date(Date.now() + 61_000) })
  t.strictSame(readdirSync(spool), [])
  t.equal((await send('GET', `/api/v1/dispatches/${dispatchId}`)).status, 404)
  t.strictSame(service.log.filter((line) => line.includes('"level":50')), [])
})

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { has } from '../support/matching.ts'
import { invoiceRequest } from '../support/service.ts'
import { databasePid, dataDirectory, gone, send, startProcess, startReady } from './support/process.ts'

void t.test('what was answered is there after kill -9, and a service whose database dies ends with one sentence', async (t) => {
  const folder = dataDirectory(t)
  const dispatch = async (url: string): Promise<string> => (await send(url, 'POST', '/api/invoicing', invoiceRequest())).body.dispatchId
  const find = async (url: string, id: string): Promise<unknown> => (await send(url, 'GET', `/api/v1/dispatches/${id}`)).body

  const first = await startReady(t, { dataDirectory: folder })
  const one = await dispatch(first.url())
  const database = Number(databasePid(folder))
  process.kill(first.pid, 'SIGKILL')
  await first.ended

  const second = await startReady(t, { dataDirectory: folder })
  t.equal(databasePid(folder), database, 'the database of a killed service is adopted')
  has(t, await find(second.url(), one), { status: 'succeeded' })
  const two = await dispatch(second.url())
  for (const pid of [second.pid, database]) process.kill(pid, 'SIGKILL')
  await second.ended

  const third = await startReady(t, { dataDirectory: folder })
  t.not(databasePid(folder), database, 'a killed one recovers')
  for (const id of [one, two]) has(t, await find(third.url(), id), { status: 'succeeded' })

  process.kill(Number(databasePid(folder)), 'SIGKILL')
  t.equal(await third.ended, 1)
  t.equal(third.stderr(),
    `Document Dispatch could not go on: The embedded database server has ended; its log is ${folder}/postgres/postgres.log.\n`)

  const fourth = await startReady(t, { dataDirectory: folder })
  has(t, (await send(fourth.url(), 'GET', '/api/v1/credits')).body, { balance: 98 })
  const pids = [fourth.pid, databasePid(folder)]
  process.kill(fourth.pid, 'SIGTERM')
  t.equal(await fourth.ended, 0)
  await gone(...pids)
})

void t.test('a database that dies while the service starts is one sentence too', async (t) => {
  const folder = dataDirectory(t)
  const service = startProcess(t, { dataDirectory: folder })
  while (!service.stdout().includes('providers installed')) await pause(2)
  process.kill(Number(databasePid(folder)), 'SIGKILL')
  t.equal(await service.ended, 1)
  t.equal(service.stderr(),
    `Document Dispatch could not start: The embedded database server has ended; its log is ${folder}/postgres/postgres.log.\n`)
})

void t.test('an error of the service that nobody catches ends it with its database', async (t) => {
  const folder = dataDirectory(t)
  const fault = 'process.once(\'SIGUSR2\', () => { throw new Error(\'a bug of the service\') })'
  const service = await startReady(t, {
    dataDirectory: folder,
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` }
  })
  const database = databasePid(folder)
  process.kill(service.pid, 'SIGUSR2')
  t.equal(await service.ended, 1)
  t.equal(service.stderr(), 'Document Dispatch could not go on: a bug of the service.\n')
  t.same(service.log().filter(({ level }) => level === 50).map(({ msg }) => msg), ['an error was thrown and nobody could catch it'])
  await gone(database)
})

import { delimiter } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { contains } from '../support/matching.ts'
import { operator, seededEnvironment, shippedProviders } from '../support/service.ts'
import { dataDirectory, send, startProcess, startReady } from './support/process.ts'

type ProcessEntry = { pid: number, converged: boolean, providers: { code: string, version: string, digest: string }[] }

await t.test('a reload reaches every process, or tells which has not converged', async (t) => {
  const folders = await directory(t)
  const starting = {
    dataDirectory: dataDirectory(t),
    env: { ...await seededEnvironment(t), DISPATCH_PROVIDERS_DIR: [shippedProviders, folders].join(delimiter), DISPATCH_METRICS_PORT: '0' }
  }
  const service = await startReady(t, starting)
  const worker = startProcess(t, { ...starting, command: [process.execPath, 'scripts/worker.ts'] })
  while (!worker.log().some(({ msg }) => msg === 'working')) await pause(50)

  // Each process shows its own metrics.
  for (const { log } of [service, worker]) {
    const { url = '' } = log().find(({ msg }) => msg === 'metrics') ?? {}
    contains(t, await (await fetch(String(url))).text(), /^dispatch_database_up 1$/m)
  }

  const versions = (processes: ProcessEntry[]): unknown[] =>
    processes.map(({ pid, converged, providers }) => [pid, converged, providers.find(({ code }) => code === 'fresh')?.version])
      .sort(([a], [b]) => Number(a) - Number(b))
  const pids = [service.pid, worker.pid].sort((a, b) => a - b)
  const reload = async (): Promise<ProcessEntry[]> =>
    (await send(service.url(), 'POST', '/api/v1/providers/reload', undefined, operator)).body.processes

  const listed = async (): Promise<ProcessEntry[]> =>
    (await send(service.url(), 'GET', '/api/v1/providers/processes', undefined, operator)).body.data
  const converge = async (): Promise<ProcessEntry[]> => {
    const processes = await listed()
    return processes.every(({ converged }) => converged) ? processes : await pause(100).then(converge)
  }

  await provide(folders, 'fresh', {})
  t.same((await reload()).map(({ pid }) => pid).sort((a, b) => a - b), pids)
  t.same(versions(await converge()), pids.map((pid) => [pid, true, '1.0.0']))

  process.kill(worker.pid, 'SIGSTOP')
  await provide(folders, 'fresh', { 'package.json': { version: '2.0.0' } })
  t.same(versions(await reload()), pids.map((pid) => pid === worker.pid ? [pid, false, '1.0.0'] : [pid, true, '2.0.0']))
  process.kill(worker.pid, 'SIGCONT')
  t.same(versions(await converge()), pids.map((pid) => [pid, true, '2.0.0']))

  await provide(folders, 'fresh', { 'package.json': { version: '3.0.0', author: 'Another' } })
  await reload()
  t.same(versions(await converge()), pids.map((pid) => [pid, true, '2.0.0']), 'another publisher waits for an operator')
  const accept = startProcess(t, {
    ...starting,
    command: [process.execPath, 'scripts/dispatch.ts', 'providers', 'accept', 'fresh', 'fresh', 'Another']
  })
  t.same([await accept.ended, accept.stderr()], [0, ''])
  t.equal(accept.stdout(), 'The code "fresh" belongs to the package "fresh" by "Another" from now on.\n')
  while (versions(await listed()).some((entry) => !String(entry).endsWith('true,3.0.0'))) await pause(100)
})

/**
 * A process that drains a queue of BullMQ through the vendor given as an argument, with a Redis of its own whose data are in the folder
 * given: each change of it is on the disk before it is answered (`appendfsync always`). It adds so many jobs when it is told a number, and
 * then works on 16 at a time. Nothing is recorded beside the job: no attempt before the call, and of its result only that the job is done.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { whenStopped } from './stop.ts'

const load = createRequire(import.meta.url)

/** Whether there are both: the packages of this folder, and a `redis-server` on the PATH. */
export function hasBull (): boolean {
  return existsSync(new URL('../node_modules/bullmq/', import.meta.url)) && spawnSync('redis-server', ['--version']).status === 0
}

/** The used part of BullMQ. It is installed for the benchmark only, and so are its types. */
type Bull = {
  Queue: new(name: string, options: object) => {
    addBulk: (jobs: readonly { name: string, data: object, opts: object }[]) => Promise<unknown>
    close: () => Promise<void>
  }
  Worker: new(
    name: string,
    work: (job: { data: { order: string } }) => Promise<unknown>,
    options: object
  ) => { close: (force: boolean) => Promise<void> }
}

async function startRedis (folder: string): Promise<{ path: string, server: ChildProcess }> {
  const path = join(folder, 'redis.sock')
  const settings = ['--port', '0', '--unixsocket', path, '--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
  const server = spawn('redis-server', settings, { stdio: 'ignore' })
  while (!existsSync(path) && server.exitCode === null) await pause(20)
  return { path, server }
}

/** The work of the process, when the file is run and not only imported. */
async function serve (folder: string, vendorUrl: string): Promise<void> {
  const { Queue, Worker } = load('bullmq') as Bull
  const { path, server } = await startRedis(folder)
  const queue = new Queue('sms', { connection: { path } })
  const vendor = new Agent({ connections: 16 })
  let worker: InstanceType<typeof Worker> | undefined

  process.on('message', (amount: number) => {
    void work(amount)
  })
  async function work (amount: number): Promise<void> {
    const opts = { removeOnComplete: true, attempts: 40 }
    await queue.addBulk(Array.from({ length: amount }, (_, nth) => ({ name: 'sms', data: { order: `bull-${nth}` }, opts })))
    worker = new Worker('sms', async ({ data: { order } }) => {
      const { body } = await request(`${vendorUrl}/messages`, { method: 'POST', dispatcher: vendor, query: { order }, body: '{}' })
      return await body.json()
    }, { connection: { path, maxRetriesPerRequest: null }, concurrency: 16 })
  }
  whenStopped(async () => {
    await worker?.close(true)
    await Promise.all([queue.close(), vendor.close()])
    const ended = once(server, 'exit')
    server.kill()
    await ended
  })
  process.send?.({})
}

if (import.meta.main) await serve(process.argv[2] ?? '', process.argv[3] ?? '')

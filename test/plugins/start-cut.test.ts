import { isPassingOutage } from '@dispatch/database'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import t from 'tap'
import { createApp } from '../../plugins/container.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { seededDatabase, testConfig } from '../support/service.ts'

const databaseUrl = await seededDatabase(t)
const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl })
const to = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

/** A way to the database that ends every connection when its `nth` one begins, and takes none for a while. */
async function cuttingAt (nth: number): Promise<{ url: string, cut: () => boolean, close: () => void }> {
  const sockets = new Set<Socket>()
  let [count, isCut, open] = [0, false, true]
  const server = createServer((near) => {
    near.on('error', () => undefined)
    if (!open) return void near.destroy()
    const far = connect(to)
    for (const one of [near, far]) {
      sockets.add(one)
      one.on('error', () => undefined).on('close', () => {
        sockets.delete(one)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
    if (++count !== nth) return
    ;[isCut, open] = [true, false]
    for (const one of sockets) one.destroy()
    setTimeout(() => {
      open = true
    }, 300)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `postgres://${user ?? ''}:${password ?? ''}@127.0.0.1:${(server.address() as AddressInfo).port}/${database ?? ''}`,
    cut: () => isCut,
    close: () => {
      server.close()
      for (const one of sockets) one.destroy()
    }
  }
}

for (let nth = 2; nth <= 10; nth += 2) {
  await t.test(`a start whose database goes away at its connection ${nth} begins again`, async (t) => {
    const way = await cuttingAt(nth)
    t.teardown(way.close)
    const config = testConfig(t.testdir(), { runsWorker: false })
    const started = await createApp(config, { databaseUrl: way.url, log: createLogger('silent'), renderer: quickRenderer })
      .catch((error: unknown) => error)
    t.ok(way.cut())
    if (started instanceof Error) t.ok(isPassingOutage(started), String(started))
    else await (started as Awaited<ReturnType<typeof createApp>>).close()
  })
}

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import pg from 'pg'
import type { Test } from 'tap'

/** A way to a PostgreSQL server that can fall silent: connections stay open, and nothing passes in either direction. */
export type SilentProxy = { url: string, silence: () => void, speak: () => void }

/** Opens one before the server of `url`; it ends with the test. What was said in silence is heard afterwards, as after a stall of the network. */
export async function silentProxy (t: Test, url: string): Promise<SilentProxy> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url })
  const to = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const sockets = new Set<Socket>()
  let silent = false
  const server = createServer((near) => {
    const far = connect(to)
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
      if (silent) socket.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const login = [user ?? '', password ?? ''].map(encodeURIComponent).join(':')
  return {
    url: `postgres://${login}@127.0.0.1:${(server.address() as AddressInfo).port}/${database}`,
    silence () {
      silent = true
      for (const socket of sockets) socket.pause()
    },
    speak () {
      silent = false
      for (const socket of sockets) socket.resume()
    }
  }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import pg from 'pg'
import type { Test } from 'tap'

/**
 * A way to a server that can stall. `silence`: connections stay open, and nothing passes in either direction until it may `speak`;
 * what was said in silence is heard then, as after a stall of the network. `hold`: a new connection is accepted and reaches
 * nobody until it is let go by `release`; those before go on. `waiting`: how many are held. `cut` ends the connections that there are;
 * `lose` leaves them open, and nothing passes through them any more.
 */
export type StallingProxy = {
  port: number
  silence: () => void
  speak: () => void
  hold: () => void
  waiting: () => number
  release: () => void
  cut: () => void
  lose: () => void
  close: () => void
}

/** Opens one on a free port of the loopback address. */
export async function stallingProxy (to: NetConnectOpts): Promise<StallingProxy> {
  const sockets = new Set<Socket>()
  let silent = false
  let held: (() => void)[] | undefined

  function join (near: Socket): void {
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
  }

  function cut (): void {
    for (const socket of sockets) socket.destroy()
  }

  const server = createServer((near) => {
    near.on('error', () => undefined)
    if (held === undefined) join(near)
    else {
      held.push(() => {
        if (!near.destroyed) join(near)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    silence () {
      silent = true
      for (const socket of sockets) socket.pause()
    },
    speak () {
      silent = false
      for (const socket of sockets) socket.resume()
    },
    hold () {
      held ??= []
    },
    waiting: () => held?.length ?? 0,
    release () {
      for (const letGo of held ?? []) letGo()
      held = undefined
    },
    cut,
    lose () {
      for (const socket of sockets) socket.pause()
    },
    close () {
      cut()
      server.close()
    }
  }
}

/** A stalling way to a PostgreSQL server: `url` leads through it. */
export async function databaseProxy (url: string): Promise<StallingProxy & { url: string }> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url })
  const proxy = await stallingProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  const login = [user ?? '', password ?? ''].map(encodeURIComponent).join(':')
  return { ...proxy, url: `postgres://${login}@127.0.0.1:${proxy.port}/${database}` }
}

/** A way to a PostgreSQL server that can fall silent. */
export type SilentProxy = { url: string, silence: () => void, speak: () => void, cut: () => void }

/** Opens one before the server of `url`; it ends with the test. */
export async function silentProxy (t: Test, url: string): Promise<SilentProxy> {
  const proxy = await databaseProxy(url)
  t.teardown(proxy.close)
  return proxy
}

import { once } from 'node:events'
import { createServer } from 'node:net'

/** The environment with a free port chosen by the system if it has PORT=0: links need the number before the service listens. */
export async function withFreePort (env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  return env['PORT'] === '0' ? { ...env, PORT: String(await freePort()) } : env
}

export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

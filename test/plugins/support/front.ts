import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** The public address of a service that is started later: what comes to it goes on to that. */
export async function startFront (t: Test): Promise<{ url: string, leadTo: (url: string) => void }> {
  let target = ''
  const server = createServer((incoming, answer) => {
    const { method, headers, url } = incoming
    const outgoing = request(`${target}${url ?? ''}`, { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(answer)
    })
    incoming.pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://localhost:${String((server.address() as AddressInfo).port)}`,
    leadTo: (url) => {
      target = url
    }
  }
}

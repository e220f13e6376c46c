import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import { sentenceOf } from '../../scripts/failure.ts'

async function listening (port: number, host: string): Promise<unknown> {
  const server = createServer().listen(port, host)
  t.teardown(() => server.close())
  return once(server, 'listening').then(() => server.address(), (error: unknown) => error)
}

void t.test('an address that cannot be listened on is told with the variable that changes it', async (t) => {
  const { port } = await listening(0, '127.0.0.1') as AddressInfo
  t.equal(sentenceOf(await listening(port, '127.0.0.1')),
    `Port ${port} of 127.0.0.1 is taken: stop the program that has it, or choose another one with PORT (metrics: DISPATCH_METRICS_PORT).`)
  // TEST-NET-1 (RFC 5737): nobody's address.
  t.equal(sentenceOf(await listening(0, '192.0.2.1')), '192.0.2.1 is not an address of this machine: choose another one with HOST.')
  const denied = Object.assign(new Error('listen EACCES'), { syscall: 'listen', code: 'EACCES', address: '127.0.0.1', port: 80 })
  t.equal(sentenceOf(denied), 'Port 80 of 127.0.0.1 needs privileges that this user has not: choose one from 1024 on with PORT.')
})

void t.test('what is a sentence already stays one', (t) => {
  for (const message of ['It is so.', 'Is it so?', 'So!']) t.equal(sentenceOf(new Error(message)), message)
  t.equal(sentenceOf(new Error('It is so')), 'It is so.')
  t.equal(sentenceOf('thrown text'), 'thrown text')
  t.end()
})

void t.test('of several errors while closing the first is told', async (t) => {
  const opened = new AsyncDisposableStack()
  for (const message of ['Closed last.', 'Closed second.', 'Closed first.']) opened.defer(() => Promise.reject(new Error(message)))
  t.equal(sentenceOf(await opened.disposeAsync().catch((error: unknown) => error)), 'Closed first.')
})

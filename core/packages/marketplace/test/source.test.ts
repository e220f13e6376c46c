import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Fetch, readAddress } from '../catalog/fetch.ts'
import { catalogFile, openSource } from '../index.ts'
import { refuses } from './support.ts'

const address = 'https://catalogs.example/acme/'
const size = 1_000
const integrity = 'sha512-of-what-is-read-later'

/** A server that answers so, and a fetch that takes it for every host. */
async function serve (t: Test, answer: RequestListener): Promise<Fetch> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  return (url, init) => fetch(`http://127.0.0.1:${port}${new URL(url).pathname}`, init)
}

void t.test('an address has the catalog, and the packages beside it or elsewhere', async (t) => {
  const answers = await serve(t, ({ url }, response) => response.end(url))
  const requested: string[] = []
  const source = openSource(address, (url, init) => {
    requested.push(url)
    return answers(url, init)
  })
  t.equal(await source.readCatalog(), '/acme/catalog.jws')
  t.equal(Buffer.from((await source.readPackage({ place: 'acme/acme-1.0.0.tgz', size, integrity })).bytes).toString(),
    '/acme/acme/acme-1.0.0.tgz')
  await source.readPackage({ place: 'https://elsewhere.example/acme.tgz', size, integrity })
  await openSource('https://catalogs.example/own.jws', answers).readCatalog()
  t.same(requested, [
    'https://catalogs.example/acme/catalog.jws',
    'https://catalogs.example/acme/acme/acme-1.0.0.tgz',
    'https://elsewhere.example/acme.tgz'
  ])
})

void t.test('a directory has the catalog and its packages, and nothing outside of it', async (t) => {
  const outer = t.testdir({ 'secret.tgz': 'secret', catalogs: { [catalogFile]: 'signed', 'acme.tgz': 'package' } })
  const directory = join(outer, 'catalogs')
  await mkdir(join(directory, 'more'))
  await symlink('../acme.tgz', join(directory, 'more/same.tgz'))
  await symlink('../secret.tgz', join(directory, 'out.tgz'))
  const source = openSource(directory, fetch)
  t.equal(await source.readCatalog(), 'signed')
  t.equal(Buffer.from((await source.readPackage({ place: 'acme.tgz', size, integrity })).bytes).toString(), 'package')
  t.equal(Buffer.from((await source.readPackage({ place: 'more/same.tgz', size, integrity })).bytes).toString(), 'package')
  await refuses(t, 'source_invalid', () => source.readPackage({ place: '../secret.tgz', size, integrity }))
  await refuses(t, 'source_invalid', () => source.readPackage({ place: 'out.tgz', size, integrity }), 'a link out of it')
  await refuses(t, 'source_invalid', () => source.readPackage({ place: 'https://elsewhere.example/acme.tgz', size, integrity }))
  await refuses(t, 'source_unavailable', () => source.readPackage({ place: 'gone.tgz', size, integrity }))
  await refuses(t, 'source_unavailable', () => source.readPackage({ place: 'more', size, integrity }))
  await refuses(t, 'source_length', () => source.readPackage({ place: 'acme.tgz', size: 6, integrity }))
  await refuses(t, 'source_unavailable', () => openSource(join(outer, 'gone'), fetch).readCatalog())
  await writeFile(join(directory, catalogFile), Buffer.alloc(16 * 1024 * 1024 + 1))
  await refuses(t, 'source_length', () => source.readCatalog())
})

void t.test('an address is https:// without a password', async (t) => {
  for (const other of ['http://catalogs.example/', 'file:///srv', 'https://me:word@catalogs.example/', 'https://']) {
    await refuses(t, 'source_invalid', () => openSource(other, fetch), other)
  }
})

/** What a server may do, and the word for it. */
const faults: [what: string, code: string, answer: RequestListener][] = [
  ['says nothing', 'source_timeout', () => undefined],
  ['stops in the middle', 'source_timeout', (_, response) => void response.writeHead(200).write('begun')],
  ['sends a byte now and then', 'source_timeout', (_, response) => {
    const drip = setInterval(() => response.write('x'), 50)
    response.on('close', () => clearInterval(drip))
  }],
  ['redirects', 'source_redirects', (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
  ['redirects to nowhere', 'source_redirects', (_, response) => response.writeHead(301).end()],
  ['has nothing', 'source_unavailable', (_, response) => response.writeHead(404).end()],
  ['fails', 'source_unavailable', (_, response) => response.writeHead(500).end()],
  ['has no content', 'source_unavailable', (_, response) => response.writeHead(204).end()],
  ['hangs up', 'source_unavailable', ({ socket }) => socket.destroy()],
  ['hangs up in the middle', 'source_unavailable', ({ socket }, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('begun', () => socket.destroy())
  }],
  ['announces too much', 'source_length', (_, response) => response.writeHead(200, { 'content-length': '1001' }).write('x')],
  ['sends too much', 'source_length', (_, response) => response.writeHead(200).end('x'.repeat(5_000))],
  ['sends without end', 'source_length', (_, response) => {
    const flood = setInterval(() => response.write('x'.repeat(100)), 1)
    response.on('close', () => clearInterval(flood))
  }],
  ['speaks no HTTP', 'source_unavailable', ({ socket }) => socket.end('hello\r\n\r\n')]
]

for (const [what, code, answer] of faults) {
  void t.test(`a server that ${what} is refused: ${code}`, async (t) => {
    const source = await serve(t, answer)
    await refuses(t, code, () => readAddress(new URL(address), size, source, { limit: 400 }))
  })
}

void t.test('a length that a network call did not check is checked', async (t) => {
  const lying: Fetch = () =>
    Promise.resolve({ status: 200, headers: new Headers({ 'content-length': '3' }), body: new Response('hello').body })
  await refuses(t, 'source_length', () => readAddress(new URL(address), size, lying))
})

void t.test('the connection of a refused answer is closed', async (t) => {
  const closed = Promise.withResolvers<undefined>()
  const source = await serve(t, (_, response) => {
    response.on('close', () => closed.resolve(undefined))
    response.writeHead(200, { 'content-length': '100000' }).write('begun')
  })
  await refuses(t, 'source_length', () => readAddress(new URL(address), size, source))
  await closed.promise
})

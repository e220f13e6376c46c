import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'

type Version = { name: string, version: string, dist: { tarball: string, integrity: string, signatures?: object[], attestations?: object } }
type Document = { 'name': string, 'dist-tags': Record<string, string>, 'versions': Record<string, Version> }

/** A registry of npm on loopback: what `npm publish` sends is there, signed with a key of the registry, with its provenance. */
export type NpmRegistry = {
  url: string
  documents: Map<string, Document>
  tarballs: Map<string, Buffer>
  /** Answers in its place, by path; for registries that lie. */
  instead: Map<string, RequestListener>
  /** Whether a request of this path came. */
  requested: string[]
}

const repository = 'https://github.com/acme/dispatch-provider-acme'

export async function startNpmRegistry (t: Test): Promise<NpmRegistry> {
  const [documents, tarballs, instead, requested] = [new Map<string, Document>(), new Map<string, Buffer>(),
    new Map<string, RequestListener>(), [] as string[]]
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const [keyid, key] = ['SHA256:registry', publicKey.export({ format: 'der', type: 'spki' }).toString('base64')]

  async function publish (request: IncomingMessage, name: string): Promise<void> {
    const { versions, _attachments: attachments } = JSON.parse((await buffer(request)).toString()) as Document & {
      _attachments: Record<string, { data: string }>
    }
    const bytes = Buffer.from(Object.values(attachments)[0]?.data ?? '', 'base64')
    const document = documents.get(name) ?? { name, 'dist-tags': {}, 'versions': {} }
    for (const published of Object.values(versions)) {
      const { version, dist } = published
      const path = `/${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`
      tarballs.set(path, bytes)
      const sig = sign('sha256', Buffer.from(`${name}@${version}:${dist.integrity}`), privateKey).toString('base64')
      Object.assign(dist, {
        tarball: `${url}${path.slice(1)}`,
        signatures: [{ keyid, sig }],
        attestations: { url: `${url}-/npm/v1/attestations/${name}@${version}` }
      })
      document.versions[version] = published
      document['dist-tags']['latest'] = version
    }
    documents.set(name, document)
  }

  function attestation (path: string): object {
    const named = path.slice('/-/npm/v1/attestations/'.length)
    const [name, version] = [named.slice(0, named.lastIndexOf('@')), named.slice(named.lastIndexOf('@') + 1)]
    const bytes = tarballs.get(`/${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`) ?? Buffer.alloc(0)
    const statement = {
      subject: [{ name: `pkg:npm/${named}`, digest: { sha512: createHash('sha512').update(bytes).digest('hex') } }],
      predicate: {
        buildDefinition: {
          externalParameters: { workflow: { repository, path: '.github/workflows/publish.yml', ref: 'refs/heads/main' } },
          resolvedDependencies: [{ uri: `git+${repository}`, digest: { gitCommit: '0a1b2c3d' } }]
        }
      }
    }
    const payload = Buffer.from(JSON.stringify(statement)).toString('base64')
    return { attestations: [{ predicateType: 'https://slsa.dev/provenance/v1', bundle: { dsseEnvelope: { payload } } }] }
  }

  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    requested.push(path)
    const json = (value: object | undefined, status = 200): void => {
      response.writeHead(value === undefined ? 404 : status, { 'content-type': 'application/json' }).end(JSON.stringify(value ?? {}))
    }
    const own = instead.get(path)
    if (own !== undefined) own(request, response)
    else if (request.method === 'PUT') void publish(request, path.slice(1)).then(() => json({ ok: true }, 201))
    else if (path === '/-/npm/v1/keys') {
      json({ keys: [{ expires: null, keyid, keytype: 'ecdsa-sha2-nistp256', scheme: 'ecdsa-sha2-nistp256', key }] })
    } else if (path.startsWith('/-/npm/v1/attestations/')) json(attestation(path))
    else if (tarballs.has(path)) response.end(tarballs.get(path))
    else json(documents.get(path.slice(1)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  const url = `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}/`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url, documents, tarballs, instead, requested }
}

/** Puts packages that are installed here into a registry, so that others install them from it. `folders`: those of `node_modules`. */
export function offerInstalled ({ url, documents, tarballs }: NpmRegistry, ...folders: readonly string[]): void {
  for (const folder of folders) {
    const path = fileURLToPath(new URL(`../../node_modules/${folder}`, import.meta.url))
    const about = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { name: string, version: string }
    const { name, version } = about
    const bytes = execFileSync('tar', ['-c', '-C', path, '--transform', 's,^[.],package,', '.'], { maxBuffer: 2 ** 27 })
    const tarball = `/${name}/-/${version}.tgz`
    tarballs.set(tarball, gzipSync(bytes, { level: 1 }))
    const integrity = `sha512-${createHash('sha512').update(tarballs.get(tarball) ?? '').digest('base64')}`
    const { scripts: _, devDependencies: __, ...told } = about as Record<string, unknown>
    const published = { ...told, name, version, dist: { tarball: `${url}${tarball.slice(1)}`, integrity } }
    documents.set(name, { name, 'dist-tags': { latest: version }, 'versions': { [version]: published } })
  }
}

import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { Header, type HeaderData } from 'tar'
import { MarketplaceRefusal, type PackageManifest, writePackage } from '../index.ts'

/** The manifest of an invented adapter. */
export function manifestOf (changes: Partial<PackageManifest> = {}, provider: Partial<PackageManifest['provider']> = {}): PackageManifest {
  return {
    v: 1,
    package: 'dispatch-provider-acme',
    publisher: 'Acme Ltd',
    sdk: '^1.0.0',
    licence: 'MIT',
    changelog: '',
    conformance: { status: 'passed', kit: '1.0.1', passed: 120, skipped: 3 },
    provider: {
      code: 'acme',
      name: 'Acme',
      version: '1.0.0',
      hosts: ['api.acme.example'],
      services: {
        postal: {
          capabilities: { mailTypes: ['SIMPLE'], countries: ['FR', 'BE'] },
          verbs: ['dispatch', 'cancel'],
          idempotency: { kind: 'key' }
        }
      },
      settings: { type: 'object', properties: {} },
      ...provider
    },
    ...changes
  }
}

/** A package with one line of code. */
export function packageOf (manifest: PackageManifest = manifestOf(), code = 'export default {}\n') {
  return writePackage(manifest, new Map([['index.js', Buffer.from(code)]]))
}

/** An entry of a tarball as an attacker may write it. `size` is the announced one. */
export type Entry = HeaderData & { path: string, content?: Buffer | string }

const blockSize = 512

/** A tarball with these entries in this order, whatever they are. */
export function tarballOf (entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ content = '', ...data }) => {
    const bytes = Buffer.from(content)
    const header = Buffer.alloc(blockSize)
    new Header({ type: 'File', mode: 0o644, size: bytes.length, mtime: new Date(0), ...data }).encode(header)
    return [header, bytes, Buffer.alloc((blockSize - bytes.length % blockSize) % blockSize)]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]))
}

/** The entries of a sound package, by path. A content that is undefined leaves its file out. */
export function soundEntries (changes: Record<string, Buffer | string | object | undefined> = {}): Entry[] {
  const { files } = packageOf()
  return Object.entries({ ...Object.fromEntries(files), ...changes }).flatMap(([path, content]) => {
    if (content === undefined) return []
    const isBytes = typeof content === 'string' || Buffer.isBuffer(content)
    return [{ path: `package/${path}`, content: isBytes ? content : JSON.stringify(content) }]
  })
}

/** The content of a file of a sound package. */
export function jsonIn (path: 'manifest.json' | 'package.json'): Record<string, unknown> {
  return JSON.parse(packageOf().files.get(path)!.toString())
}

/** The result of work; undefined where it is refused. */
export function resultOf<Result> (work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof MarketplaceRefusal) return undefined
    throw error
  }
}

/** The refusal that work ends with. */
export async function refusalOf (work: () => unknown): Promise<{ code: string, message: string }> {
  try {
    await work()
  } catch (error) {
    if (error instanceof MarketplaceRefusal) return { code: error.code, message: error.message }
    throw error
  }
  return { code: 'none', message: '' }
}

/** Work is refused with this word, and a whole sentence. */
export async function refuses (t: Test, code: string, work: () => unknown, message = code): Promise<void> {
  const refusal = await refusalOf(work)
  t.equal(refusal.code, code, message)
  t.ok(/^\S[^]*\.$/.test(refusal.message), refusal.message)
}

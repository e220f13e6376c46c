import { compile, ownField } from '@dispatch/common'
import { createHash, createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto'
import semver from 'semver'
import { type Static, Type } from 'typebox'
import { checkIntegrity } from '../integrity.ts'
import { checked, parsed, readJson } from '../json.ts'
import { packageLimits } from '../package/tarball.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import { type Fetch, readAddress } from './fetch.ts'

/** The registry of everybody, where nothing else is said. */
export const publicRegistry = 'https://registry.npmjs.org/'

/** A version of an npm package. */
export type NpmVersion = { name: string, version: string }

/** What a registry says of a package beside its bytes. Nobody but the registry vouches for it. */
export type RegistryFacts = Readonly<
  NpmVersion & {
    address: string
    /**
     * Its signature on name, version and integrity, as `npm audit signatures` checks it: by a key that the registry offers, or `unchecked`,
     * where it offers none of that name. Undefined: it does not sign.
     */
    signature?: 'verified' | 'unchecked'
    /** From where it says that the package was built. The digest is that of the package; who has signed the statement is not checked. */
    provenance?: Readonly<{ repository?: string, commit?: string, workflow?: string }>
  }
>

/** The bytes of a package with the announced integrity, and what its registry says of it. */
export type RegistryPackage = Readonly<{ bytes: Buffer, facts: RegistryFacts }>

/** Bytes of JSON that a registry may answer with: a thousand versions have about 1 MiB. */
const documentLimit = 8 * 1024 * 1024

/** A version of an npm package as a text: its name and an exact version. */
export const npmPlace = /^npm:((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)@([0-9][0-9A-Za-z.+-]*)$/

/** What is known to be a version of an npm package; undefined for another text. Throws where it names no exact version. */
export function npmVersionIn (text: string): NpmVersion | undefined {
  if (!text.startsWith('npm:')) return undefined
  const [, name, version] = npmPlace.exec(text) ?? []
  if (name !== undefined && version !== undefined && text.length <= 300 && semver.valid(version) === version) return { name, version }
  throw new MarketplaceRefusal('source_invalid', `"${text.slice(0, 300)}" must be npm:<name>@<version>, with an exact version.`)
}

const Signature = Type.Object({ keyid: Type.String({ maxLength: 200 }), sig: Type.String({ maxLength: 2_000 }) })

/** What is read of a version in the document of a package. */
const Published = Type.Object({
  name: Type.String(),
  version: Type.String(),
  dist: Type.Object({
    tarball: Type.String({ maxLength: 2_000 }),
    integrity: Type.String({ maxLength: 2_000 }),
    signatures: Type.Optional(Type.Array(Signature, { maxItems: 20 })),
    attestations: Type.Optional(Type.Object({ url: Type.String({ maxLength: 2_000 }) }))
  })
})
const checkPublished = compile(Published)
const checkKeys = compile(Type.Object({
  keys: Type.Array(Type.Object({ keyid: Type.String(), key: Type.String({ maxLength: 2_000 }) }), { maxItems: 50 })
}))

const checkAttestations = compile(Type.Object({
  attestations: Type.Array(
    Type.Object({ predicateType: Type.String(), bundle: Type.Object({ dsseEnvelope: Type.Object({ payload: Type.String() }) }) }),
    { maxItems: 20 }
  )
}))
/** A statement of in-toto about how a package was built (SLSA 1). */
const checkStatement = compile(Type.Object({
  subject: Type.Array(Type.Object({ digest: Type.Object({ sha512: Type.Optional(Type.String()) }) }), { maxItems: 20 }),
  predicate: Type.Optional(Type.Object({
    buildDefinition: Type.Optional(Type.Object({
      externalParameters: Type.Optional(Type.Object({
        workflow: Type.Optional(Type.Object({ repository: Type.Optional(Type.String()), path: Type.Optional(Type.String()) }))
      })),
      resolvedDependencies: Type.Optional(
        Type.Array(Type.Object({ digest: Type.Optional(Type.Object({ gitCommit: Type.Optional(Type.String()) })) }), { maxItems: 20 })
      )
    }))
  }))
}))

/**
 * The address of a registry. Throws a {@link MarketplaceRefusal} unless it is https://, or on this machine: what stands there is installed.
 */
export function registryAddress (text: string): URL {
  const url = URL.parse(text)
  const isHere = url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  if (url === null || (url.protocol !== 'https:' && !isHere) || url.username !== '' || url.password !== '' || url.search !== '') {
    throw new MarketplaceRefusal('source_invalid',
      `"${text.slice(0, 300)}" must be the https:// address of a registry, without a password.`)
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

/**
 * Reads a version from a registry that speaks npm's protocol. `integrity`: the one that somebody else has announced. Throws a
 * {@link MarketplaceRefusal}: a registry that lies, redirects, hangs or sends too much is refused as every source is.
 */
export async function readFromRegistry (
  registry: string,
  { name, version }: NpmVersion,
  { fetch, integrity, size = packageLimits.packed }: { fetch: Fetch, integrity?: string, size?: number }
): Promise<RegistryPackage> {
  const address = registryAddress(registry)
  const read = async (url: URL): Promise<string> => (await readAddress(url, documentLimit, fetch, { accept })).toString()
  const what = `${name} ${version} at ${address.href}`
  const reading = { what: `The answer about ${what}`, code: 'source_unavailable' } as const
  const document = parsed(await read(new URL(encodeURIComponent(name).replace('%40', '@'), address)), reading)
  // Of a document with many versions that one is checked alone.
  const own = ownField(ownField(document, 'versions'), version)
  if (own === undefined) {
    throw new MarketplaceRefusal('version_unknown', `The registry ${address.href} has no version ${version} of ${name}.`)
  }
  const published = checked(own, checkPublished, reading)
  if (published.name !== name || published.version !== version) {
    throw new MarketplaceRefusal('manifest_mismatch', `Asked for ${what}, it answers with ${published.name} ${published.version}.`)
  }
  const { dist } = published
  const announced = /(?:^|\s)(sha512-[A-Za-z0-9+/]{86}==)(?:\s|$)/.exec(dist.integrity)?.[1]
  if (announced === undefined || (integrity !== undefined && announced !== integrity)) {
    throw new MarketplaceRefusal('integrity_mismatch',
      `The registry announces ${dist.integrity.slice(0, 200)} for ${what}; expected is ${integrity ?? 'a SHA-512'}.`)
  }
  const bytes = await readAddress(atRegistry(dist.tarball, address, what), size, fetch)
  checkIntegrity(bytes, announced, what)
  const signature = await signatureOf(published, { address, read })
  const provenance = await provenanceOf(published, bytes, { address, read })
  return {
    bytes,
    facts: {
      address: address.href,
      name,
      version,
      ...(signature !== undefined && { signature }),
      ...(provenance !== undefined && { provenance })
    }
  }
}

/** The short form of a package's document, where a registry has one. */
const accept = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8'

type Published = Static<typeof Published>
type Asking = { address: URL, read: (url: URL) => Promise<string> }

/** What a registry names is asked for there alone: nobody is led elsewhere by it. */
function atRegistry (text: string, { origin }: URL, what: string): URL {
  const url = URL.parse(text)
  if (url?.origin === origin && url.username === '' && url.password === '') return url
  throw new MarketplaceRefusal('source_redirects',
    `The tarball of ${what} is said to be at ${text.slice(0, 300)}, which is not that registry.`)
}

async function signatureOf ({ name, version, dist }: Published, { address, read }: Asking): Promise<RegistryFacts['signature']> {
  const { signatures = [], integrity } = dist
  if (signatures.length === 0) return undefined
  const keys = await keysOf(address, read)
  const known = signatures.filter(({ keyid }) => keys.has(keyid))
  if (known.length === 0) return 'unchecked'
  const signed = Buffer.from(`${name}@${version}:${integrity}`)
  const isRight = ({ keyid, sig }: { keyid: string, sig: string }): boolean => {
    const key = keys.get(keyid)
    return key !== undefined && verifySignature('sha256', signed, key, Buffer.from(sig, 'base64'))
  }
  if (known.every(isRight)) return 'verified'
  throw new MarketplaceRefusal('signature_invalid', `The registry's own signature on ${name} ${version} does not fit its key.`)
}

/** The keys that a registry offers, by their names; none where it has no such page. */
async function keysOf (address: URL, read: Asking['read']): Promise<Map<string, KeyObject>> {
  const text = await read(new URL('-/npm/v1/keys', address)).catch((error: unknown) => {
    if (error instanceof MarketplaceRefusal && error.code === 'source_unavailable') return '{"keys":[]}'
    throw error
  })
  const { keys } = readJson(text, checkKeys, { what: `The keys of ${address.href}`, code: 'source_unavailable' })
  try {
    return new Map(keys.map(({ keyid, key }) => [keyid, createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })]))
  } catch (cause) {
    throw new MarketplaceRefusal('key_invalid', `The keys of ${address.href} cannot be read.`, { cause })
  }
}

async function provenanceOf ({ dist }: Published, bytes: Buffer, { address, read }: Asking): Promise<RegistryFacts['provenance']> {
  const url = URL.parse(dist.attestations?.url ?? '')
  // A mirror names the attestations of the registry that it mirrors.
  if (url?.origin !== address.origin) return undefined
  const reading = { what: `The provenance at ${url.href}`, code: 'source_unavailable' } as const
  const { attestations } = readJson(await read(url), checkAttestations, reading)
  const slsa = attestations.find(({ predicateType }) => predicateType.startsWith('https://slsa.dev/provenance/v1'))
  if (slsa === undefined) return undefined
  const statement = readJson(Buffer.from(slsa.bundle.dsseEnvelope.payload, 'base64').toString(), checkStatement, reading)
  const digest = createHash('sha512').update(bytes).digest('hex')
  if (!statement.subject.some(({ digest: { sha512 } }) => sha512 === digest)) {
    throw new MarketplaceRefusal('integrity_mismatch', `The provenance at ${url.href} is that of other bytes.`)
  }
  const { externalParameters, resolvedDependencies = [] } = statement.predicate?.buildDefinition ?? {}
  const { repository, path } = externalParameters?.workflow ?? {}
  const commit = resolvedDependencies[0]?.digest?.gitCommit
  return {
    ...(repository !== undefined && { repository: repository.slice(0, 300) }),
    ...(commit !== undefined && { commit: commit.slice(0, 100) }),
    ...(path !== undefined && { workflow: path.slice(0, 300) })
  }
}

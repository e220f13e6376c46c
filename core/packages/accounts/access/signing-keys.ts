import type { Envelope, Keyring } from '@dispatch/common'
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto'

export type KeyPurpose = 'jwt' | 'link'

/** A key as it is stored. Its secret is sealed under the master key. */
export type StoredKey = { kid: string, createdAt: Date, secret: Envelope }

/** The store of the keys that all processes share. Each method returns all keys of the purpose, the newest first. */
export type KeyStore = {
  load: (purpose: KeyPurpose) => Promise<readonly StoredKey[]>
  /** Stores the key, unless the purpose already has one that was created after `since`. */
  insertUnlessNewer: (purpose: KeyPurpose, key: StoredKey, since: Date) => Promise<readonly StoredKey[]>
  remove: (purpose: KeyPurpose, kids: readonly string[]) => Promise<void>
}

/** The dependencies to read or create a key. */
export type KeyVault = { store: KeyStore, keyring: Keyring, now: () => Date }

/** An Ed25519 key pair with its id. */
export type SigningKey = { kid: string, createdAt: Date, privateKey: KeyObject, publicKey: KeyObject }

/** The keys that sign tokens. */
export type SigningKeys = {
  /** The key to sign with now. */
  signer: () => Promise<SigningKey>
  find: (kid: string) => Promise<SigningKey | undefined>
}

/** All in milliseconds. */
const minute = 60_000
const hour = 60 * minute
/** How often the keys are read again at most, however many unknown ids are requested: a forged id must not cost a query. */
const readEvery = minute
/** A new key signs only when every process has read it. */
const signsAfter = 2 * readEvery
const rotatedEvery = 90 * 24 * hour
/** The last token of a key expires after 2 hours and can be refreshed for 24 hours more. */
const neededFor = 27 * hour

/**
 * The signing keys of the service. Creates the first key, and a new one every 90 days. Throws a SealError when the stored keys are sealed
 * under another master key.
 */
export async function createSigningKeys (vault: KeyVault): Promise<SigningKeys> {
  let keys = await read()
  let readAt = vault.now().getTime()

  async function read (): Promise<Keys<SigningKey>> {
    const present = await readKeys(vault, 'jwt')
    return mapKeys(isOld(present[0]) ? await addKey(vault, 'jwt', { unlessNewerThan: present[0].createdAt }) : present, pairOf)
  }

  function isOld ({ createdAt }: OpenKey): boolean {
    return vault.now().getTime() - createdAt.getTime() > rotatedEvery
  }

  async function current (): Promise<Keys<SigningKey>> {
    const time = vault.now().getTime()
    if (time - readAt < readEvery) return keys
    readAt = time
    keys = await read()
    return keys
  }

  return {
    async signer () {
      const all = await current()
      return all.find(({ createdAt }) => vault.now().getTime() - createdAt.getTime() >= signsAfter) ?? all.at(-1) ?? all[0]
    },
    find: async (kid) => (await current()).find((key) => key.kid === kid)
  }
}

/**
 * Creates a new signing key; within minutes every process signs with it. `older`: earlier keys are removed when none of their tokens can be
 * used any more, or at once, which ends all sessions: for a key that has leaked. Returns the new key's id.
 */
export async function rotateSigningKey (vault: KeyVault, older: 'kept' | 'revoked'): Promise<string> {
  const [newest, ...others] = await addKey(vault, 'jwt', { unlessNewerThan: vault.now() })
  if (older === 'revoked') await vault.store.remove('jwt', others.map(({ kid }) => kid))
  return newest.kid
}

/** The key (32 bytes) of document links. It is created if there is none. */
export async function readLinkKey (vault: KeyVault): Promise<Uint8Array> {
  const [newest] = await readKeys(vault, 'link')
  return newest.secret
}

type Keys<T> = readonly [T, ...T[]]
type OpenKey = { kid: string, createdAt: Date, secret: Buffer }

const makers: Record<KeyPurpose, () => Uint8Array> = {
  jwt: () => generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }),
  link: () => randomBytes(32)
}

async function readKeys (vault: KeyVault, purpose: KeyPurpose): Promise<Keys<OpenKey>> {
  const present = await vault.store.load(purpose)
  return present.length > 0 ? openKeys(vault, purpose, present) : addKey(vault, purpose, { unlessNewerThan: new Date(0) })
}

/** Adds a key, unless another process has just added one, and removes the keys that are no longer needed. */
async function addKey (vault: KeyVault, purpose: KeyPurpose, { unlessNewerThan }: { unlessNewerThan: Date }): Promise<Keys<OpenKey>> {
  const { store, keyring, now } = vault
  const kid = randomUUID()
  const key = { kid, createdAt: now(), secret: keyring.seal(makers[purpose](), contextOf(purpose, kid)) }
  const present = await store.insertUnlessNewer(purpose, key, unlessNewerThan)
  const replacedAt = (index: number): number => present[index - 1]?.createdAt.getTime() ?? Infinity
  const needless = present.filter((_, index) => now().getTime() - replacedAt(index) > neededFor)
  await store.remove(purpose, needless.map((old) => old.kid))
  return openKeys(vault, purpose, present.filter((old) => !needless.includes(old)))
}

function openKeys ({ keyring }: KeyVault, purpose: KeyPurpose, [newest, ...older]: readonly StoredKey[]): Keys<OpenKey> {
  if (newest === undefined) throw new Error(`The key store has not kept the key that was made for "${purpose}".`)
  return mapKeys([newest, ...older],
    ({ kid, createdAt, secret }) => ({ kid, createdAt, secret: keyring.open(secret, contextOf(purpose, kid)) }))
}

function contextOf (purpose: KeyPurpose, kid: string): string {
  return `key|${purpose}|${kid}`
}

function mapKeys<A, B> ([first, ...rest]: Keys<A>, map: (key: A) => B): Keys<B> {
  return [map(first), ...rest.map(map)]
}

function pairOf ({ kid, createdAt, secret }: OpenKey): SigningKey {
  const privateKey = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' })
  return { kid, createdAt, privateKey, publicKey: createPublicKey(privateKey) }
}

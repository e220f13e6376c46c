import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, randomUUID, type KeyObject } from 'node:crypto'
import type { Envelope, Keyring } from './keyring.ts'

export type KeyPurpose = 'jwt' | 'link'

/** A key as it is stored: its secret sealed under the master key. */
export type StoredKey = { kid: string, createdAt: Date, secret: Envelope }

/** Where the keys live that all processes share. Both answers hold every key of the purpose, the newest first. */
export type KeyStore = {
  load: (purpose: KeyPurpose) => Promise<readonly StoredKey[]>
  /** Stores the key unless the purpose has one already. */
  insertIfAbsent: (purpose: KeyPurpose, key: StoredKey) => Promise<readonly StoredKey[]>
}

/** What it takes to read or make a key. */
export type KeyVault = { store: KeyStore, keyring: Keyring, now: () => Date }

/** A pair of Ed25519 keys under its id. */
export type SigningKey = { kid: string, privateKey: KeyObject, publicKey: KeyObject }

/** The keys that sign tokens. */
export type SigningKeys = {
  /** The one to sign with. */
  newest: () => SigningKey
  find: (kid: string) => Promise<SigningKey | undefined>
}

/** Milliseconds between two looks for an unknown key: another process may have made it, but forged ids must not cost a query each. */
const reloadAfter = 60_000

/** The token keys of the service; makes the first one. Throws a SealError when they are sealed under another master key. */
export async function createSigningKeys (vault: KeyVault): Promise<SigningKeys> {
  const read = async (): Promise<Keys<SigningKey>> => mapKeys(await readKeys(vault, 'jwt'), pairOf)
  let keys = await read()
  let readAt = vault.now().getTime()
  return {
    newest: () => keys[0],
    async find (kid) {
      const known = keys.find((key) => key.kid === kid)
      if (known !== undefined || vault.now().getTime() - readAt < reloadAfter) return known
      readAt = vault.now().getTime()
      keys = await read()
      return keys.find((key) => key.kid === kid)
    }
  }
}

/** The key (32 bytes) of document links; made when there is none. */
export async function readLinkKey (vault: KeyVault): Promise<Uint8Array> {
  const [newest] = await readKeys(vault, 'link')
  return newest.secret
}

type Keys<T> = readonly [T, ...T[]]
type OpenKey = { kid: string, secret: Buffer }

const makers: Record<KeyPurpose, () => Uint8Array> = {
  jwt: () => generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }),
  link: () => randomBytes(32)
}

async function readKeys ({ store, keyring, now }: KeyVault, purpose: KeyPurpose): Promise<Keys<OpenKey>> {
  const present = await store.load(purpose)
  const [newest, ...older] = present.length > 0 ? present : await store.insertIfAbsent(purpose, makeKey())
  if (newest === undefined) throw new Error(`The key store has not kept the key that was made for "${purpose}".`)
  return mapKeys([newest, ...older], ({ kid, secret }) => ({ kid, secret: keyring.open(secret, contextOf(kid)) }))

  function makeKey (): StoredKey {
    const kid = randomUUID()
    return { kid, createdAt: now(), secret: keyring.seal(makers[purpose](), contextOf(kid)) }
  }

  function contextOf (kid: string): string {
    return `key|${purpose}|${kid}`
  }
}

function mapKeys<A, B> ([first, ...rest]: Keys<A>, map: (key: A) => B): Keys<B> {
  return [map(first), ...rest.map(map)]
}

function pairOf ({ kid, secret }: OpenKey): SigningKey {
  const privateKey = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' })
  return { kid, privateKey, publicKey: createPublicKey(privateKey) }
}

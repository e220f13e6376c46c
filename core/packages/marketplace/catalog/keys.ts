import { compile } from '@dispatch/common'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { type Static, Type } from 'typebox'
import { readJson } from '../json.ts'
import { MarketplaceRefusal } from '../refusal.ts'

const closed = { additionalProperties: false }
/** 32 bytes in base64url (RFC 8037). */
const bytes32 = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: '32 bytes in base64url' })

const fields = {
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  x: bytes32,
  /** The thumbprint of the key (RFC 7638): two keys never have the same. */
  kid: bytes32
}

/** A public key as a JSON Web Key. */
export const PublicKey = Type.Object(fields, closed)
export type PublicKey = Static<typeof PublicKey>

const PrivateKey = Type.Object({ ...fields, d: bytes32 }, closed)
export type PrivateKey = Static<typeof PrivateKey>

const checkPublic = compile(PublicKey)
const checkPrivate = compile(PrivateKey)

/** A new pair of keys. */
export async function makeKeys (): Promise<{ privateKey: PrivateKey, publicKey: PublicKey }> {
  const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const jwk = await exportJWK(pair.privateKey)
  const kid = await calculateJwkThumbprint(jwk)
  const privateKey = await readPrivateKey(JSON.stringify({ kty: jwk.kty, crv: jwk.crv, x: jwk.x, kid, d: jwk.d }))
  return { privateKey, publicKey: publicPartOf(privateKey) }
}

export async function readPublicKey (text: string): Promise<PublicKey> {
  return await checkKid(readJson(text, checkPublic, { what: 'The public key', code: 'key_invalid' }))
}

export async function readPrivateKey (text: string): Promise<PrivateKey> {
  return await checkKid(readJson(text, checkPrivate, { what: 'The private key', code: 'key_invalid' }))
}

function publicPartOf ({ kty, crv, x, kid }: PrivateKey): PublicKey {
  return { kty, crv, x, kid }
}

/** The same key. Throws where its `kid` is that of another one. */
export async function checkKid<Key extends PublicKey> (key: Key): Promise<Key> {
  const { kty, crv, x, kid } = key
  const thumbprint = await calculateJwkThumbprint({ kty, crv, x })
  if (kid === thumbprint) return key
  throw new MarketplaceRefusal('key_invalid', `The "kid" of the key is ${kid}, but it must be its thumbprint, ${thumbprint}.`)
}

import { CompactSign, compactVerify, decodeProtectedHeader, errors } from 'jose'
import { MarketplaceRefusal } from '../refusal.ts'
import type { PrivateKey, PublicKey } from './keys.ts'

/** What a signature is for. None can be mistaken for one of the other kind (RFC 8725, 3.11). */
const types = { catalog: 'dispatch-catalog+jws', package: 'dispatch-package+jws' } as const
type Kind = keyof typeof types

/** Signs a text: a compact JWS with EdDSA. */
export async function sign (kind: Kind, text: string, key: PrivateKey): Promise<string> {
  return await new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'EdDSA', kid: key.kid, typ: types[kind] }).sign(key)
}

/** The text that one of the keys has signed. Throws a {@link MarketplaceRefusal}. */
export async function verify (kind: Kind, jws: string, keys: readonly PublicKey[]): Promise<string> {
  const kid = kidOf(kind, jws)
  const key = keys.find((one) => one.kid === kid)
  if (key === undefined) {
    throw new MarketplaceRefusal('key_unknown',
      `It is signed with the key ${kid}, and trusted ${keys.length === 1 ? 'is' : 'are'} ${
        keys.map((one) => one.kid).join(', ') || 'none'
      }.`)
  }
  try {
    const { payload } = await compactVerify(jws, key, { algorithms: ['EdDSA'] })
    return new TextDecoder('utf-8', { fatal: true }).decode(payload)
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError || cause instanceof TypeError)) throw cause
    throw new MarketplaceRefusal('signature_invalid', `The signature does not fit the key ${kid}: the content or the key was changed.`, {
      cause
    })
  }
}

function kidOf (kind: Kind, jws: string): string {
  const { alg, kid, typ, ...others } = headerOf(jws)
  if (alg === 'EdDSA' && typeof kid === 'string' && typ === types[kind] && Object.keys(others).length === 0) return kid
  throw new MarketplaceRefusal('signature_invalid',
    `Its header must have "alg": "EdDSA", "typ": "${types[kind]}", a "kid", and nothing else.`)
}

function headerOf (jws: string): Record<string, unknown> {
  try {
    return { ...decodeProtectedHeader(jws) }
  } catch (cause) {
    throw new MarketplaceRefusal('signature_invalid', 'It is no compact JWS: three texts in base64url with points between them.', { cause })
  }
}

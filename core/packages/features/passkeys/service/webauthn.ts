import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { isIP } from 'node:net'
import type { PasskeyCredential } from '../store/passkeys.ts'

/** For whom passkeys are made (the relying party of WebAuthn): a host name, and the one origin that may ask for them. */
export type RelyingParty = { id: string, origin: string }

/** The relying party of a public address; undefined where browsers refuse passkeys, because the host is an IP address. */
export function relyingPartyOf (publicUrl: string): RelyingParty | undefined {
  const { hostname: id, origin } = new URL(publicUrl)
  return isIP(id.replace(/^\[|\]$/g, '')) === 0 ? { id, origin } : undefined
}

/** EdDSA, ES256 and RS256: what browsers have had for years. */
const algorithms = [-8, -7, -257]

/** Loads what reads the formats of WebAuthn when it is first needed: few processes need it, and it is large. */
const load = () => import('@simplewebauthn/server')

/** What a browser needs to make a passkey (PublicKeyCredentialCreationOptionsJSON). It can sign in alone, where the device allows. */
export async function registrationOptions (
  { id }: RelyingParty,
  { userId, email, challenge, known }: { userId: number, email: string, challenge: Uint8Array, known: readonly PasskeyCredential[] }
): Promise<object> {
  const { generateRegistrationOptions } = await load()
  return generateRegistrationOptions({
    rpName: 'Document Dispatch',
    rpID: id,
    userName: email,
    userDisplayName: email,
    userID: handleOf(userId),
    challenge: new Uint8Array(challenge),
    timeout: 300_000,
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: known.map(named),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' }
  })
}

/** What a browser needs to use a passkey (PublicKeyCredentialRequestOptionsJSON): one of these, or alone any that its user chooses. */
export async function requestOptions (
  { id }: RelyingParty,
  { challenge, known }: { challenge: Uint8Array, known?: readonly PasskeyCredential[] }
): Promise<object> {
  const { generateAuthenticationOptions } = await load()
  return generateAuthenticationOptions({
    rpID: id,
    challenge: new Uint8Array(challenge),
    timeout: 300_000,
    allowCredentials: (known ?? []).map(named),
    userVerification: known === undefined ? 'required' : 'preferred'
  })
}

/** The new passkey of a browser's answer; undefined for an answer that is malformed, or to another challenge, origin or party. */
export async function readRegistration (
  { id, origin }: RelyingParty,
  response: RegistrationResponseJSON,
  challenge: string
): Promise<PasskeyCredential | undefined> {
  const { verifyRegistrationResponse } = await load()
  const rules = {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms
  }
  const { registrationInfo } = await orWrong(verifyRegistrationResponse({ response, ...rules })) ?? {}
  if (registrationInfo === undefined) return undefined
  const { id: credential, publicKey, counter, transports = [] } = registrationInfo.credential
  return { credential, publicKey: Buffer.from(publicKey), counter, transports }
}

/** How often the passkey was used by now; undefined for an answer that it has not signed. `alone`: the device has verified its user. */
export async function readSignIn (
  { id, origin }: RelyingParty,
  response: AuthenticationResponseJSON,
  { challenge, passkey, alone }: { challenge: string, passkey: PasskeyCredential & { userId: number }, alone: boolean }
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await load()
  const { userHandle } = response.response
  if (userHandle !== undefined && userHandle !== Buffer.from(handleOf(passkey.userId)).toString('base64url')) return undefined
  const { credential, publicKey, counter } = passkey
  const answer = await orWrong(verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: alone,
    credential: { id: credential, publicKey: new Uint8Array(publicKey), counter }
  }))
  return answer?.verified === true ? answer.authenticationInfo.newCounter : undefined
}

/** The challenge that a browser says it has answered, in base64url. The signature proves it afterwards. */
export function challengeIn ({ clientDataJSON }: { clientDataJSON: string }): string | undefined {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown }
    return typeof challenge === 'string' ? challenge : undefined
  } catch {
    // It is no JSON: nothing that a browser has made.
    return undefined
  }
}

/** The library throws for all that a browser should not have sent. */
async function orWrong<Answer> (verified: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await verified
  } catch {
    return undefined
  }
}

/** The id of a user for authenticators, which must say nothing of the person. */
function handleOf (userId: number): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`user ${userId}`)
}

function named ({ credential, transports }: PasskeyCredential): { id: string, transports: string[] } {
  return { id: credential, transports: [...transports] }
}

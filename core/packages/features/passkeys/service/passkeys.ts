import { type Actor, digestOf, type FactorStore, makeRecoveryCodes, type QuestionCheck, recoveryDigest, type Requester, revoked,
  type SecondFactors, type UserRef } from '@dispatch/accounts'
import { compile } from '@dispatch/common'
import { DispatchError, type ProofBody } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { randomBytes } from 'node:crypto'
import { type NewPasskeyBody, type NewPasskeyView, PasskeySignIn, type PasskeyView } from '../contract/passkeys.ts'
import { type ChallengeUse, deletePasskey, findPasskey, insertChallenge, insertPasskey, listPasskeys, notePasskeyUse,
  type PasskeyCredential, type PasskeyRow, renamePasskey, useChallenge } from '../store/passkeys.ts'
import { challengeIn, readRegistration, readSignIn, registrationOptions, type RelyingParty, requestOptions } from './webauthn.ts'

/**
 * Passkeys (WebAuthn): a second factor or, where the device verifies its user, all that a sign-in needs. A challenge counts once, for five
 * minutes. Every change ends the user's other sessions and all their tokens.
 */
export type Passkeys = QuestionCheck & {
  list: (user: UserRef) => Promise<PasskeyView[]>
  /** What a browser takes to make a passkey. Throws `conflict` where the public address is an IP address, or there are too many. */
  begin: (actor: Actor) => Promise<object>
  /** Throws `forbidden` for what the browser has not answered to the challenge of the actor, and `conflict` for a passkey that is known. */
  register: (by: Requester, passkey: NewPasskeyBody) => Promise<NewPasskeyView>
  /** Undefined when the actor has no such passkey. */
  rename: (by: Requester, passkeyId: string, name: string) => Promise<PasskeyView | undefined>
  /** False when the actor has no such passkey. Throws `forbidden` for a wrong password or code. */
  remove: (by: Requester, passkeyId: string, proof: ProofBody) => Promise<boolean>
}

export const passkeys = token<Passkeys>('passkeys')

/** Most passkeys of a user. */
const maxPasskeys = 20

type Options = {
  database: Database
  secondFactors: Pick<SecondFactors, 'prove'>
  /** What users have of each kind of verification. */
  factors: readonly FactorStore[]
  /** Undefined: there are no passkeys, because browsers refuse them for an IP address. */
  party: RelyingParty | undefined
  now: () => Date
  newId: () => string
}

const fitSignIn = compile(PasskeySignIn)

/** Creates the passkeys of users. What its functions throw is said at {@link Passkeys}. */
export function createPasskeys ({ database, secondFactors, factors, party, now, newId }: Options): Passkeys {
  async function challengeFor (use: ChallengeUse): Promise<Buffer> {
    const challenge = randomBytes(32)
    await insertChallenge(database, digestOf(challenge.toString('base64url')), use)
    return challenge
  }

  /** The challenge of an answer, if it was asked for this, and not answered before. */
  async function usedChallenge (response: { clientDataJSON: string }, use: ChallengeUse): Promise<string | undefined> {
    const challenge = challengeIn(response)
    return challenge !== undefined && await useChallenge(database, digestOf(challenge), use) ? challenge : undefined
  }

  return {
    offered: party !== undefined,
    list: async (user) => (await listPasskeys(database, user)).map(viewOf),

    async begin (actor) {
      requireOneself(actor)
      const known = await listPasskeys(database, actor)
      if (party === undefined) throw new DispatchError('conflict', 'Passkeys need a host name: the public address is an IP address.')
      if (known.length >= maxPasskeys) {
        throw new DispatchError('conflict', `There are ${maxPasskeys} passkeys: remove one first.`, { reason: 'at_most' })
      }
      const { userId, email } = actor
      const challenge = await challengeFor({ use: 'registration', userId })
      return registrationOptions(party, { userId, email, challenge, known: known.map(credentialOf) })
    },

    async register ({ actor, author }, { name, response }) {
      requireOneself(actor)
      const { companyId, userId, passwordVersion, sessionId: keptSession } = actor
      const challenge = await usedChallenge(response.response, { use: 'registration', userId })
      const credential = party === undefined || challenge === undefined
        ? undefined
        : await readRegistration(party, { ...response, clientExtensionResults: {} }, challenge)
      if (credential === undefined) throw new DispatchError('forbidden', 'The passkey does not answer what was asked: begin again.')
      const recoveryCodes = makeRecoveryCodes()
      const passkey = { ...credential, passkeyId: newId(), name, digests: recoveryCodes.map((code) => recoveryDigest(userId, code)) }
      const added = await insertPasskey(database, { companyId, userId, keptSession, passwordVersion }, passkey, { author, at: now() })
      if (added === 'stale') throw revoked()
      if (added === undefined) throw new DispatchError('conflict', 'This passkey is registered already.', { reason: 'exists' })
      return { passkey: viewOf(added.row), recoveryCodes: added.first ? recoveryCodes : [] }
    },

    async rename ({ actor, author }, passkeyId, name) {
      requireOneself(actor)
      const row = await renamePasskey(database, actor, { passkeyId, name }, { author, at: now() })
      return row && viewOf(row)
    },

    async remove (by, passkeyId, proof) {
      await secondFactors.prove(by, proof)
      const { actor: { companyId, userId, sessionId: keptSession }, author } = by
      return deletePasskey(database, factors, { companyId, userId, keptSession }, { passkeyId, author, at: now() })
    },

    async ask (user) {
      const known = user && (await listPasskeys(database, user)).map(credentialOf)
      if (party === undefined || known?.length === 0) return undefined
      const challenge = await challengeFor({ use: 'sign-in', userId: user?.userId ?? null })
      return {
        options: await requestOptions(party, { challenge, ...known === undefined ? {} : { known } }),
        challenge: challenge.toString('base64url')
      }
    },

    async answered (json, question) {
      const fit = fitSignIn(parsed(json))
      if (!fit.ok || party === undefined) return undefined
      const { value } = fit
      const user = 'user' in question ? question.user : undefined
      const challenge = await usedChallenge(value.response, { use: 'sign-in', userId: user?.userId ?? null })
      if (challenge === undefined || 'challenge' in question && question.challenge !== challenge) return undefined
      const row = await findPasskey(database, value.id)
      if (row === undefined || user !== undefined && row.user_id !== user.userId) return undefined
      const passkey = { ...credentialOf(row), userId: row.user_id }
      const response = { ...value, clientExtensionResults: {} }
      const counter = await readSignIn(party, response, { challenge, passkey, alone: user === undefined })
      return counter !== undefined && await notePasskeyUse(database, row, counter) ? row.user_id : undefined
    }
  }
}

/** Throws `forbidden` during an impersonation. */
function requireOneself ({ impersonatorId }: Actor): void {
  if (impersonatorId !== undefined) throw new DispatchError('forbidden', 'Only users themselves have their passkeys in hand.')
}

function parsed (json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // No browser has made it.
    return undefined
  }
}

function credentialOf ({ credential, public_key: publicKey, counter, transports }: PasskeyRow): PasskeyCredential {
  return { credential, publicKey, counter: Number(counter), transports }
}

function viewOf ({ passkey_id: id, name, created_at: createdAt, used_at: usedAt }: PasskeyRow): PasskeyView {
  return { id, name, createdAt: createdAt.toISOString(), usedAt: usedAt?.toISOString() ?? null }
}

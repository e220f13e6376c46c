import type { Actor, SessionProof, Sessions } from '@dispatch/accounts'
import { DispatchError, type ErrorWord } from '@dispatch/contract'
import type { FastifyRequest } from 'fastify'
import { secretIn } from '../form/body.ts'

/**
 * What the reader has sent needs a proof of who they are that is at most five minutes old; `refused`: the one that they gave was not right.
 * The console asks for it on a page of its own, which keeps what was sent, and sends it again with the proof.
 */
export class ProofNeeded extends Error {
  override name = 'ProofNeeded'
  readonly refused: ErrorWord | undefined
  readonly retryAfter: number | undefined

  constructor (refused?: DispatchError) {
    super('The reader must prove again who they are.', { cause: refused })
    this.refused = refused?.word
    this.retryAfter = refused?.retryAfter
  }
}

/** With what the reader can prove who they are. */
export type WaysToProve = Awaited<ReturnType<Sessions['waysToProve']>>

/** The field of a proof that was typed. No other form has such a name. */
export const typedField = ':proof'

/** The field with the answer of a kind of verification. */
export const answerField = (kind: string): string => `:${kind}`

/** What somebody has written to prove who they are: no password is as short as a code. */
export function proofIn (body: URLSearchParams, field = 'proof'): { code: string } | { password: string } {
  const proof = body.get(field) ?? ''
  const isCode = /^\s*(?:\d{3}\s?\d{3}|[\da-z]{4}(?:-[\da-z]{4}){3})\s*$/i.test(proof)
  return isCode ? { code: proof.trim() } : { password: secretIn(body, field) ?? '' }
}

/** Takes the proof out of what was sent; undefined where there is none. */
export function takeProof ({ body }: FastifyRequest, kinds: readonly string[]): SessionProof | undefined {
  if (!(body instanceof URLSearchParams)) return undefined
  const [answered] = kinds.flatMap((kind) => body.getAll(answerField(kind)).map((answer) => ({ kind, answer })))
  const proof = answered ?? (body.has(typedField) ? proofIn(body, typedField) : undefined)
  for (const name of [typedField, ...kinds.map(answerField)]) body.delete(name)
  return proof
}

/** Notes the proof of the person of a session, and answers when it was given. Throws {@link ProofNeeded} for a wrong one. */
export async function prove (
  sessions: Sessions,
  { ip: address, id: requestId }: FastifyRequest,
  own: Actor,
  proof: SessionProof
): Promise<Date> {
  const { userId, companyId } = own
  try {
    return await sessions.prove({ actor: own, author: { userId, companyId, address, requestId } }, proof)
  } catch (error) {
    throw error instanceof DispatchError && (error.word === 'forbidden' || error.word === 'rate_limited') ? new ProofNeeded(error) : error
  }
}

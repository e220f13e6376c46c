import { isSame } from './compare.ts'
import type { EventRequest } from './event-request.ts'
import type { PlainSecret } from './language.ts'
import type { VerificationStatus } from './verdict.ts'

/** Basic credentials (RFC 7617), compared as bytes. `expected` is `user:password`. If user or password is missing, nothing is accepted. */
export function verifyBasic (expected: string | undefined, { request: { headers } }: Pick<EventRequest, 'request'>): VerificationStatus {
  if (expected === undefined || !/^[^:]+:./s.test(expected)) return 'no_secret'
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(headers['authorization'] ?? '') ?? []
  if (encoded === undefined) return 'no_signature'
  return isSame(Buffer.from(encoded, 'base64'), Buffer.from(expected)) ? 'verified' : 'wrong_signature'
}

/** A secret that stands in the request as it is. */
export async function verifySecret (
  { at, prefix = '' }: PlainSecret,
  secret: string | undefined,
  { textsAt }: EventRequest
): Promise<VerificationStatus> {
  if (secret === undefined || secret === '') return 'no_secret'
  const given = await textsAt(at)
  if (given === undefined) return 'no_signature'
  return given.map((text) => isSame(Buffer.from(text), Buffer.from(`${prefix}${secret}`))).includes(true) ? 'verified' : 'wrong_signature'
}

import { compile, type Fit, inspectJson } from '@dispatch/common'
import { hasRecipients, recipientLists } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import { Type } from 'typebox'
import { copyJson } from '../contain/plain-json.ts'
import type { Accepted } from '../manifest/definition.ts'

const answer = {
  id: Type.String({ minLength: 1, maxLength: 500 }),
  status: Type.String({ minLength: 1, maxLength: 200 }),
  url: Type.Optional(Type.String({ maxLength: 2048 }))
}

/** The fields that every dispatch answers with; further fields are the provider's own. */
const fitAnswer = compile(Type.Unsafe<Accepted>(Type.Object(answer)))

/** The same for an e-mail, which may report about its recipients. A provider must not report `uncertain`: it throws instead. */
const fitMailAnswer = compile(Type.Unsafe<Accepted>(Type.Object({ ...answer, ...recipientLists, uncertain: Type.Optional(Type.Never()) })))

/** Checks that the value a provider returned is plain JSON of bounded size with the vendor's id and status. The result is a copy. */
export function readProviderResponse (service: ServiceName, returned: unknown): Fit<Accepted> {
  const copied = copyJson(returned)
  if (!copied.ok) return copied
  const problems = inspectJson(copied.value)
  if (problems.length > 0) return { ok: false, problems }
  return hasRecipients(service) ? fitMailAnswer(copied.value) : fitAnswer(copied.value)
}

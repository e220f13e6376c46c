import type { DocumentHandle } from '@dispatch/common'
import type { Static, TSchema } from 'typebox'
import type { BodyFields } from './body.ts'
import type { FormFields } from './form.ts'
import type { ReplyForm } from './reply.ts'
import type { SignInFields } from './sign-in.ts'

/**
 * One request of a provider: its sign-in, query, headers and body. `arrays` says how lists are written. `replyAs` reads the answer as a
 * text, or as XML. With `replyHeaders` the answer is `{ headers, body }`, with the named headers that it has, in lower case.
 */
export type HttpCall = SignInFields & BodyFields & {
  query?: FormFields
  headers?: Readonly<Record<string, string>>
  replyAs?: ReplyForm
  replyHeaders?: readonly string[]
}

/**
 * Sends a request and reads the answer, which must fit the schema: JSON as a value, other content as a text, an empty body as null, or as
 * `replyAs` says. Throws an error that `failureOf` reads. A provider does not catch it, unless it knows more about the outcome.
 */
export type HttpVerb = <Reply extends TSchema>(url: string, call: HttpCall, reply: Reply) => Promise<Static<Reply>>

/** A provider's access to its vendor: https without redirects, to the manifest's hosts and to the hosts of its `Host()` settings only. */
export type Http = Record<'get' | 'post' | 'put' | 'patch' | 'delete', HttpVerb> & {
  /** Fetches a document (GET) of at most 50 MiB and keeps it under `filename`. */
  download: (url: string, call: HttpCall & { filename: string }) => Promise<DocumentHandle>
}

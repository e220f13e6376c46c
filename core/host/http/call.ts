import type { Static, TSchema } from 'typebox'
import type { DocumentHandle } from '../../contract/common.ts'
import type { BodyFields } from './body.ts'
import type { FormFields } from './form.ts'
import type { SignInFields } from './sign-in.ts'

/** One request of a provider: how it signs in, what its query, headers and body are. `arrays` says how lists are written. */
export type HttpCall = SignInFields & BodyFields & { query?: FormFields, headers?: Readonly<Record<string, string>> }

/**
 * Sends a request and reads the answer, which must fit the schema: JSON as it is, anything else as a text, nothing as null.
 * Throws what `failureOf` reads; a provider lets it pass unless it knows better.
 */
export type HttpVerb = <Reply extends TSchema>(url: string, call: HttpCall, reply: Reply) => Promise<Static<Reply>>

/** A provider's way to its vendor: https, declared hosts and chosen ones only, no redirects. */
export type Http = Record<'get' | 'post' | 'put' | 'patch' | 'delete', HttpVerb> & {
  /** Fetches a document (GET): at most 50 MiB, kept under `filename`. */
  download: (url: string, call: HttpCall & { filename: string }) => Promise<DocumentHandle>
}

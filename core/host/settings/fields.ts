import { type TArray, type TArrayOptions, type TString, type TStringOptions, Type } from 'typebox'

/** An empty settings schema. */
export const NoFields = Type.Object({})

/**
 * A secret setting, such as a password, a token or a key. It is encrypted at rest and never shown again. Texts and
 * log lines are redacted where it has 4 characters or more. In a process of its own a provider holds a handle in place of the secret, which
 * is resolved in what it sends; `'x-computed': true` gives it the secret, where it computes with it, as for a signature of its own.
 */
export function Secret (options: TStringOptions = {}): TString {
  return Type.String({ minLength: 1, ...options, 'x-secret': true })
}

/**
 * A setting with the destination of requests: a host or a URL. When it changes, the stored secrets are deleted, because they were meant for
 * the old destination.
 */
export function Host (options: TStringOptions = {}): TString {
  return Type.String({ minLength: 1, ...options, 'x-destination': true })
}

/** The French words of a field or of a choice, in which the console shows the form: its options spread them. */
export function inFrench (title: string, description?: string) {
  return { 'x-texts': { fr: { title, ...(description === undefined ? {} : { description }) } } }
}

/** The setting `allowedSenders` of a service that e-mails: who may send through the configuration. */
export function AllowedSenders (options: TArrayOptions = {}): TArray<TString> {
  return Type.Array(Type.String({ format: 'mail-sender', maxLength: 254 }), {
    title: 'Allowed senders',
    description: 'who e-mails may come from: whole addresses, or @example.com for everybody there',
    minItems: 1,
    maxItems: 100,
    ...options
  })
}

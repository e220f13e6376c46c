import { type TArray, type TString, type TStringOptions, Type } from 'typebox'

/** No settings at all. */
export const NoFields = Type.Object({})

/** A setting that is encrypted at rest, never shown again and kept out of every log: a password, a token, a key. */
export function Secret (options: TStringOptions = {}): TString {
  return Type.String({ minLength: 1, ...options, 'x-secret': true })
}

/** A setting that says where requests go: an address or a URL. Changing it drops the kept secrets, which were meant for the old one. */
export function Host (options: TStringOptions = {}): TString {
  return Type.String({ minLength: 1, ...options, 'x-destination': true })
}

/** The setting `allowedSenders` of a service that e-mails: who may send through the configuration. */
export function AllowedSenders (): TArray<TString> {
  return Type.Array(Type.String({ pattern: '^[^\\s@]*@[^\\s@]+$', maxLength: 254 }), {
    title: 'Allowed senders',
    description: 'who e-mails may come from: whole addresses, or @example.com for everybody there',
    minItems: 1,
    maxItems: 100
  })
}

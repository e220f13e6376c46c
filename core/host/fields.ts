import { Type, type TString, type TStringOptions } from 'typebox'

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

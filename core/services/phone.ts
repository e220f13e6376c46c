import type * as Library from 'libphonenumber-js/min'
import { createRequire } from 'node:module'
import { type TString, Type } from 'typebox'
import type { Findings } from './service.ts'

/** What is loaded with the first number: its plans of all countries, in a hundred modules. */
const load = createRequire(import.meta.url)
const library = (): typeof Library => load('libphonenumber-js/min') as typeof Library

/** An E.164 phone number. */
export function PhoneNumber (): TString {
  return Type.String({
    title: 'PhoneNumber',
    pattern: '^\\+[1-9][0-9]{6,14}$',
    description: 'an E.164 phone number, with + and country code, such as +33612345678',
    examples: ['+33612345678']
  })
}

/** Whether a number of this form is possible, and whether it is known to be assigned. `number` is there if it is possible. */
export function checkPhoneNumber (phoneNumber: string, path: string): Findings & { number?: Library.PhoneNumber } {
  const number = library().parsePhoneNumberFromString(phoneNumber)
  if (number?.isPossible() !== true) {
    return {
      problems: [{
        path,
        code: 'impossible_number',
        message: `${phoneNumber} is not a phone number: no country has numbers of that code and length.`
      }]
    }
  }
  // Numbering plans change often: a number that our copy does not have may exist.
  return {
    number,
    warnings: number.isValid()
      ? []
      : [{ path, code: 'unassigned_number', message: `${phoneNumber} is in no range that is known to be assigned.` }]
  }
}

import { compileJsonSchema, isRecord, type Json, readMailbox } from '@dispatch/common'
import { shifted } from '../run/canary.ts'

/** What is known of a field besides its schema. `own`: its value, where it has one. `known`: values that it has elsewhere. */
export type About = { name: string, own: Json | undefined, known?: readonly Json[], locales?: readonly string[] }

/** Values of a field of which each says something else: all of a choice, and two of anything else. Empty where none can be made up. */
export function alternativesOf (schema: unknown, about: About): Json[] {
  if (!isRecord(schema)) return []
  const choices = choicesOf(schema)
  const fit = compileJsonSchema(schema)
  const fitting = distinct(choices ?? valuesOf(schema, about)).filter((value) => fit(value).ok)
  return choices === undefined ? fitting.slice(0, 2) : fitting
}

/** The values of a field that is a choice. */
function choicesOf ({ type, enum: listed, anyOf }: Readonly<Record<string, unknown>>): Json[] | undefined {
  if (type === 'boolean') return [true, false]
  if (Array.isArray(listed)) return listed as Json[]
  const constants = Array.isArray(anyOf)
    ? anyOf.map((choice: unknown) => isRecord(choice) ? choice['const'] as Json | undefined : undefined)
    : []
  return constants.length > 0 && constants.every((value) => value !== undefined) ? constants : undefined
}

function valuesOf (schema: Readonly<Record<string, unknown>>, about: About): Json[] {
  const { own, known = [] } = about
  const { examples, default: usual } = schema
  const reported = [...own === undefined ? [] : [own], ...known, ...Array.isArray(examples) ? examples as Json[] : [],
    ...usual === undefined ? [] : [usual as Json]]
  const other = reported.filter((value) => typeof value === 'string').flatMap((text) => [1, 2, 3].map((seed) => shifted(text, seed)))
  const made = numbersOf(schema, about) ?? textsOf(schema, about)
  // A value that was made up says nothing to the vendor by chance, as one of the fixtures may.
  return typeof own === 'number' ? [...reported, ...made] : [...made, ...reported, ...other]
}

function numbersOf ({ type, minimum = 0, maximum = 1_000 }: Readonly<Record<string, unknown>>, { own }: About): Json[] | undefined {
  if (type !== 'integer' && type !== 'number') return undefined
  const first = typeof own === 'number' ? own : Number(minimum)
  return [first + 7, first + 3, first - 1, first + 1, Number(maximum), Number(maximum) - 1].filter((value) =>
    value >= Number(minimum) && value <= Number(maximum)
  )
}

const days = ['2027-05-13', '2027-06-17']

function textsOf ({ type, format, title }: Readonly<Record<string, unknown>>, { name, own, locales }: About): Json[] {
  if (type !== 'string' && !(Array.isArray(type) && type.includes('string'))) return []
  if (name === 'locale' || name === 'language') return [...locales ?? ['fr', 'de']]
  if (name === 'country') return []
  if (name === 'postalCode') return typeof own === 'string' ? [3, 4].map((end) => own.slice(0, -1) + String(end)) : []
  if (name === 'state' || name === 'region') return ['CA', 'NY']
  if (title === 'PhoneNumber' && typeof own === 'string') return [31, 47].map((end) => own.slice(0, -2) + String(end))
  if (title === 'PhoneNumber') return ['+33612345631', '+33612345647']
  if (format === 'day' || format === 'iso-8601') return days
  if (format === 'time-zone') return ['Europe/Paris', 'America/New_York']
  if (format === 'mailbox' || format === 'mailbox-or-none' || format === 'mail-address' || name === 'email') {
    return ['zq1qz', 'zq2qz'].map((local) => `${local}@${domainOf(own)}`)
  }
  return ['zq1qz', 'zq2qz', 'https://zq1qz.test/a', 'https://zq2qz.test/b', 'zq1qz.test', 'zq2qz.test']
}

/** The domain of the fixture's own address, from which a company may be allowed to send. */
function domainOf (own: Json | undefined): string {
  const address = typeof own === 'string' ? readMailbox(own)?.address ?? own : ''
  return address.slice(address.lastIndexOf('@') + 1) || 'example.com'
}

function distinct (values: readonly Json[]): Json[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

import { dayOf, type Decimal, decimalOf, isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { Identifier, PlacedIdentifier, Text } from './model.ts'

/** The characters that XML 1.0 cannot contain, even as references: most control characters, and the two noncharacters. */
// oxlint-disable-next-line no-control-regex -- The pattern is for control characters.
const unwritable = /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/g
/** The same, carriage returns (readers of XML make line feeds of them) and halves of surrogate pairs: hardly any text has one. */
// oxlint-disable-next-line no-control-regex -- The pattern is for control characters.
const unusual = /[\0-\x08\x0B-\x1F\uD800-\uDFFF\uFFFE\uFFFF]/

/** A text that is not blank, without characters that XML cannot contain. An integer becomes its digits. */
export function textField (object: JsonObject, name: string): Text {
  const value = object[name]
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return undefined
  const clean = (unusual.test(value) ? value.toWellFormed().replaceAll(unwritable, '').replaceAll(/\r\n?/g, '\n') : value).trim()
  return clean === '' ? undefined : clean
}

/** Without the spaces that people write in an IBAN or a VAT number. */
export function compact (object: JsonObject, name: string): Text {
  return textField(object, name)?.replaceAll(/\s+/g, '')
}

/** The day of a date or time; any other text as it is, which the rules refuse. */
export function day (object: JsonObject, name: string): Text {
  const text = textField(object, name)
  return dayOf(text) ?? text
}

export function amount (object: JsonObject, name: string): Decimal | undefined {
  return decimalOf(object[name])
}

/** The object in a field; an empty one if there is none. */
export function objectField (object: JsonObject, name: string): JsonObject {
  return asObject(object[name])
}

/** The objects in a list. */
export function listField (object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name]
  return Array.isArray(value) ? value.map(asObject) : []
}

export function identifierField (object: JsonObject, name: string): Identifier | undefined {
  const given = objectField(object, name)
  const id = textField(given, 'id')
  return id === undefined ? undefined : { id, scheme: textField(given, 'scheme') }
}

/** The identifiers in a field that holds one or a list of them. */
export function identifiersField (object: JsonObject, name: string): PlacedIdentifier[] {
  return oneOrMore(object, name).flatMap(({ given, at }) => {
    const id = textField(given, 'id')
    return id === undefined ? [] : [{ id, scheme: textField(given, 'scheme'), at }]
  })
}

/** The objects in a field that holds one or a list of them, with their places. */
export function oneOrMore (object: JsonObject, name: string): { given: JsonObject, at: string }[] {
  const value = object[name]
  return Array.isArray(value)
    ? listField(object, name).map((given, index) => ({ given, at: `/${name}/${index}` }))
    : [{ given: objectField(object, name), at: `/${name}` }]
}

/** The group, unless all its values are unknown. */
export function known<Group extends object> (group: Group): Group | undefined {
  return Object.values(group).every((value) => value === undefined) ? undefined : group
}

function asObject (value: Json | undefined): JsonObject {
  return isRecord(value) ? value : {}
}

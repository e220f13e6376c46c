import type { Json, JsonObject } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import { checkField, choiceField, type Field, linesField, textField } from './fields.ts'

/** A field of a settings schema, as far as a form needs it (JSON Schema). */
type FieldSchema = {
  type?: unknown
  title?: string
  description?: string
  enum?: readonly Json[]
  anyOf?: readonly { const?: Json }[]
  items?: FieldSchema
  properties?: Readonly<Record<string, FieldSchema>>
  required?: readonly string[]
  maxLength?: number
  default?: Json
  'x-secret'?: true
}

/** The schema of a provider's settings. */
export type SettingsForm = { properties?: Readonly<Record<string, FieldSchema>>, required?: readonly string[] }

/** What the fields of a form hold: stored values, or what a person has just sent; and the API's sentences about them. */
export type Filled = { values: JsonObject, problems: readonly { path: string, message: string }[] }

type Kind = 'secret' | 'choice' | 'flag' | 'number' | 'texts' | 'group' | 'json' | 'text'

function kindOf (schema: FieldSchema): Kind {
  if (schema['x-secret'] === true) return 'secret'
  if (choicesOf(schema) !== undefined) return 'choice'
  if (schema.type === 'boolean') return 'flag'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'array') return schema.items?.type === 'string' ? 'texts' : 'json'
  if (schema.type === 'object') return isFlat(schema) ? 'group' : 'json'
  return schema.type === 'string' ? 'text' : 'json'
}

/** Whether an object has simple fields only, so that they can stand in the form themselves. */
function isFlat ({ properties = {} }: FieldSchema): boolean {
  const kinds = Object.values(properties).map(kindOf)
  return kinds.length > 0 && kinds.every((kind) => kind !== 'group' && kind !== 'json')
}

function choicesOf ({ enum: values, anyOf = [] }: FieldSchema): readonly Json[] | undefined {
  if (values !== undefined) return values
  const literals = anyOf.flatMap(({ const: literal }) => literal === undefined ? [] : [literal])
  return literals.length > 0 && literals.length === anyOf.length ? literals : undefined
}

/** The fields of a form: those of the schema in its order, the required ones first. */
export function settingsFields (words: Words, form: SettingsForm, filled: Filled): Html {
  return fieldsOf(words, form, filled, { name: '', path: '/settings' })
}

type Place = { name: string, path: string }

function fieldsOf (words: Words, { properties = {}, required = [] }: SettingsForm, { values, problems }: Filled, place: Place): Html {
  const named = Object.entries(properties)
  const isRequired = (name: string): boolean => required.includes(name)
  const ordered = [...named.filter(([name]) => isRequired(name)), ...named.filter(([name]) => !isRequired(name))]
  return html`${
    ordered.map(([name, schema]) => {
      const path = `${place.path}/${name}`
      const own = problems.filter((problem) => problem.path === path || problem.path.startsWith(`${path}/`))
      const field = {
        name: `${place.name}${name}`,
        label: schema.title ?? name,
        help: helpOf(words, schema),
        ...isRequired(name) ? {} : { note: words.optional },
        wrong: own.map(({ message }) => message)
      }
      return fieldOf(words, schema, field, values[name], { isRequired: isRequired(name), path, problems })
    })
  }`
}

function helpOf (words: Words, schema: FieldSchema): string | undefined {
  const form = { texts: words.onePerLine, json: words.asJson }[kindOf(schema) as 'texts' | 'json'] as string | undefined
  const description = schema.description === undefined ? undefined : sentence(schema.description)
  return form === undefined ? description : `${description ?? ''} ${form}`.trim()
}

/** Descriptions stand behind "must be" in the API's messages; in a form they begin a line. */
function sentence (text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?:)…]$/.test(text) ? '' : '.'}`
}

type Rest = { isRequired: boolean, path: string, problems: Filled['problems'] }

function fieldOf (words: Words, schema: FieldSchema, field: Field, value: Json | undefined, { isRequired, path, problems }: Rest): Html {
  const kind = kindOf(schema)
  if (kind === 'secret') return secretField(words, schema, field, value)
  if (kind === 'group') {
    const values = isObject(value) ? value : {}
    return html`<fieldset><legend>${field.label}</legend>${field.help === undefined ? html`` : html`<p class="help">${field.help}</p>`}${
      fieldsOf(words, schema, { values, problems }, { name: `${field.name}.`, path })
    }</fieldset>`
  }
  const shown = { ...field, value: textOf(kind, value) }
  if (kind === 'choice') {
    const options = (choicesOf(schema) ?? []).map((choice) => ({ value: plain(choice), label: plain(choice) }))
    return choiceField({ ...shown, options, none: isRequired && value !== undefined ? undefined : unset(words, schema) })
  }
  if (kind === 'flag') {
    return choiceField({
      ...shown,
      options: [{ value: 'true', label: words.yes }, { value: 'false', label: words.no }],
      none: isRequired && value !== undefined ? undefined : unset(words, schema)
    })
  }
  if (kind === 'texts' || kind === 'json') return linesField(shown)
  return textField({ ...shown, ...(kind === 'number' ? { type: 'number' } : {}) })
}

/** The words for no choice, with the value that then holds. */
function unset (words: Words, { default: otherwise }: FieldSchema): string {
  return otherwise === undefined ? words.notSet : fill(words.notSetBut, { value: plain(otherwise) })
}

/** A stored secret never comes back: an empty field keeps it. */
function secretField (words: Words, { maxLength = 0 }: FieldSchema, field: Field, value: Json | undefined): Html {
  const isSet = isObject(value) && value['set'] === true
  const shown = isSet ? { ...field, note: words.secretSet } : field
  const control = maxLength > severalLines ? linesField(shown) : textField({ ...shown, type: 'password', autocomplete: 'new-password' })
  if (!isSet || field.note === undefined) return control
  const label = fill(words.secretDelete, { name: field.label })
  return html`${control}${checkField({ name: `${field.name}:delete`, label, checked: false })}`
}

/** A longer secret is a key in PEM, which has lines. */
const severalLines = 1000

function textOf (kind: Kind, value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  if (kind === 'texts' && Array.isArray(value)) return value.map(String).join('\n')
  return plain(value, 2)
}

/** A text as it is, any other value as JSON. */
function plain (value: Json, indent?: number): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, indent)
}

/**
 * The settings that a person has sent. An empty field is left out. What is not the number or the JSON that it should be stays as it was
 * written, so that the API says what is wrong.
 */
export function readSettings ({ properties = {} }: SettingsForm, body: URLSearchParams, prefix = ''): JsonObject {
  return Object.fromEntries(Object.entries(properties).flatMap(([name, schema]) => {
    const value = readField(schema, `${prefix}${name}`, body)
    return value === undefined ? [] : [[name, value]]
  }))
}

function readField (schema: FieldSchema, name: string, body: URLSearchParams): Json | undefined {
  const kind = kindOf(schema)
  if (kind === 'group') {
    const values = readSettings(schema, body, `${name}.`)
    return Object.keys(values).length === 0 ? undefined : values
  }
  const text = (body.get(name) ?? '').replaceAll('\r\n', '\n')
  if (kind === 'secret' && text === '') return body.get(`${name}:delete`) === 'true' ? null : undefined
  if (kind === 'secret') return text
  if (text.trim() === '') return undefined
  if (kind === 'texts') return text.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  if (kind === 'choice') return choicesOf(schema)?.find((choice) => plain(choice) === text) ?? text
  return kind === 'text' ? text.trim() : readJson(text.trim())
}

function readJson (text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function isObject (value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import { type Json, type JsonObject, memoizeByIdentity, shortened } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { fieldWords, fill, wordFor, type Words } from '../language/language.ts'
import type { Reported } from '../language/problems.ts'
import { templateHelp } from '../language/template-help.ts'
import { secretIn } from './body.ts'
import { checkField, choiceField, type Field, linesField, type Option, spaced, textField } from './fields.ts'
import { choicesOf, type FieldSchema, isList, isObject, type Kind, kindOf, type SettingsForm } from './schema.ts'
import { sentenceOf } from './sentence.ts'

/** What the fields of a form hold: stored values, or what a person has just sent; and the API's sentences about them. */
export type Filled = {
  values: JsonObject
  problems: readonly (Reported & { path: string })[]
  /** By the names of the fields, values that the vendor has for them. */
  suggestions?: Readonly<Record<string, readonly Option[]>> | undefined
}

/** The fields of a form: those of the schema in its order, the required ones first. */
export function settingsFields (words: Words, form: SettingsForm, filled: Filled): Html {
  return fieldsOf(words, form, filled, { name: '', path: '/settings' })
}

/** What a field of a form is called, in the language of the reader where it has one. */
export function titleIn (words: Words, { properties = {} }: SettingsForm, name: string): string {
  return saidIn(words)(properties[name] ?? {}).title ?? name
}

/** Where the fields of a form stand: how their names begin, and the pointer to them in the request. */
export type Place = { name: string, path: string }

/** The fields of a form at a place of it. */
export function fieldsOf (
  words: Words,
  { properties = {}, required = [] }: SettingsForm,
  { values, problems, suggestions = {} }: Filled,
  place: Place
): Html {
  const named = Object.entries(properties)
  const isRequired = (name: string): boolean => required.includes(name)
  const ordered = [...named.filter(([name]) => isRequired(name)), ...named.filter(([name]) => !isRequired(name))]
  return html`${
    ordered.map(([name, schema]) => {
      const path = `${place.path}/${name}`
      const own = problems.filter((problem) => problem.path === path || problem.path.startsWith(`${path}/`))
      const { title = name, help, placeholder } = saidIn(words)(schema)
      const field = {
        name: `${place.name}${name}`,
        label: title,
        help,
        placeholder,
        ...schema['x-computed'] === true
          ? { note: words.computed, readonly: true as const }
          : isRequired(name)
          ? {}
          : { note: words.optional },
        wrong: own.map((problem) => sentenceOf(words, problem))
      }
      return fieldOf(words, schema, field, values[name], { isRequired: isRequired(name), path, problems, suggested: suggestions[name] })
    })
  }`
}

/** What a form says of a field, found once for all lines of a list, and once for all requests of a service. */
const saidIn = memoizeByIdentity((words: Words) =>
  memoizeByIdentity((schema: FieldSchema): { title?: string | undefined, help: string | undefined, placeholder: string | undefined } => ({
    title: textsOf(words, schema).title,
    help: helpOf(words, schema),
    placeholder: placeholderOf(schema)
  }))
)

/** What a schema says of itself, in the language of the reader where it has one. */
function textsOf (words: Words, schema: FieldSchema): OwnTexts {
  const { description, 'x-texts': texts = {}, 'x-words': name, 'x-data': data } = schema
  if (name !== undefined) return { ...fieldWords(words, name), ...texts[words.code] }
  const title = schema.title ?? (data === undefined ? undefined : wordFor(words, 'data', data))
  const helps = templateHelp[words.code] ?? {}
  const said = data !== undefined && description !== undefined && Object.hasOwn(helps, description) ? helps[description] : description
  return { ...title === undefined ? {} : { title }, ...said === undefined ? {} : { description: said }, ...texts[words.code] }
}

type OwnTexts = { title?: string, description?: string }

function helpOf (words: Words, schema: FieldSchema): string | undefined {
  const form = { texts: words.onePerLine, json: words.asJson }[kindOf(schema) as 'texts' | 'json'] as string | undefined
  const { description: reported } = textsOf(words, schema)
  const description = reported === undefined ? undefined : sentence(reported)
  return form === undefined ? description : `${description ?? ''} ${form}`.trim()
}

/** What a choice is called, where the schema says it. */
function titleOf (words: Words, { anyOf = [], 'x-words': name }: FieldSchema, choice: Json): string | undefined {
  const own = name === undefined ? undefined : fieldWords(words, `${name}_${plain(choice)}`).title
  return own ?? textsOf(words, anyOf.find(({ const: literal }) => literal === choice) ?? {}).title
}

/** The first example of a value that is typed; of a list, its lines. */
function placeholderOf (schema: FieldSchema): string | undefined {
  const kind = kindOf(schema)
  const [example] = schema.examples ?? (kind === 'texts' ? schema.items?.examples ?? [] : [])
  return example === undefined || !typed.includes(kind) ? undefined : textOf(kind, example)
}

const typed: readonly Kind[] = ['text', 'texts', 'number']

/** Descriptions stand behind "must be" in the API's messages; in a form they begin a line. */
function sentence (text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?:)…]$/.test(text) ? '' : '.'}`
}

type Rest = { isRequired: boolean, path: string, problems: Filled['problems'], suggested?: readonly Option[] | undefined }

function fieldOf (
  words: Words,
  schema: FieldSchema,
  field: Field,
  value: Json | undefined,
  { isRequired, path, problems, suggested = [] }: Rest
): Html {
  const kind = kindOf(schema)
  if (kind === 'secret') return secretField(words, schema, field, value)
  if (kind === 'group') {
    const values = isObject(value) ? value : {}
    const group = html`<fieldset><legend>${field.label}</legend>${helpAndFaults(words, field, { path, problems })}<div class="dense">${
      fieldsOf(words, schema, { values, problems }, { name: `${field.name}.`, path })
    }</div></fieldset>`
    // What is rarely filled in takes a line of a phone, unless something stands in it: within a larger form, whose fields have its name.
    if (isRequired || !field.name.includes('.')) return group
    const isOpen = Object.keys(values).length > 0 || (field.wrong ?? []).length > 0
    return part(html`${field.label} <small>${words.optional}</small>`, { isOpen, content: group })
  }
  if (kind === 'rows') return rowsField(words, schema, field, value, { path, problems })
  const shown = { ...field, value: textOf(kind, value) }
  if (kind === 'choice') {
    const options = (choicesOf(schema) ?? []).map((choice) => ({
      value: plain(choice),
      label: titleOf(words, schema, choice) ?? plain(choice)
    }))
    return choiceField({ ...shown, options, none: isRequired && value !== undefined ? undefined : unset(words, schema) })
  }
  if (kind === 'flag') {
    return choiceField({
      ...shown,
      options: [{ value: 'true', label: words.yes }, { value: 'false', label: words.no }],
      none: isRequired && value !== undefined ? undefined : unset(words, schema)
    })
  }
  const isLong = kind === 'text' && (shown.value.includes('\n') || (schema.maxLength ?? 0) > severalLines)
  if (kind === 'texts' || kind === 'json' || isLong) return html`${linesField(shown)}${listed(words, suggested)}`
  return textField({ ...shown, suggestions: suggested, ...(kind === 'number' ? { type: 'number' } : {}) })
}

/**
 * A part of a form that is folded where the screen is narrow, unless it is open or somebody opens it. It is the same element either way, so
 * that a page that follows what is typed leaves the field alone that somebody is in.
 */
function part (summary: Html, { isOpen, content }: { isOpen: boolean, content: Html }): Html {
  return html`<details class="fold part"${isOpen ? html` open` : html``}><summary>${summary}</summary>${content}</details>`
}

/** What the vendor has for a field of several lines. */
function listed (words: Words, suggested: readonly Option[]): Html {
  if (suggested.length === 0) return html``
  return html`<p class="help">${words.suggestedValues}</p><ul>${
    suggested.map(({ value, label }) => html`<li><code>${value}</code> ${label === value ? '' : label}</li>`)
  }</ul>`
}

/** What belongs to a fieldset as a whole. */
function helpAndFaults (words: Words, { help }: Field, { path, problems }: Pick<Rest, 'path' | 'problems'>): Html {
  const own = problems.filter((problem) => problem.path === path)
  return html`${help === undefined ? html`` : html`<p class="help">${help}</p>`}${
    own.length === 0 ? html`` : html`<p class="wrong">${spaced(own.map((problem) => sentenceOf(words, problem)))}</p>`
  }`
}

/** A list of objects, line by line. The buttons send the form, which comes back with a line more or less. */
function rowsField (
  words: Words,
  { items = {} }: FieldSchema,
  field: Field,
  value: Json | undefined,
  { path, problems }: Pick<Rest, 'path' | 'problems'>
): Html {
  const { name, label } = field
  const rows = isList(value) ? value : []
  const columns = Object.values(items.properties ?? {})
  const isShort = columns.length <= maxColumns && columns.every((column) => inRow.includes(kindOf(column)))
  return html`<fieldset><legend>${label}</legend>${helpAndFaults(words, field, { path, problems })}
<input type="hidden" name="${name}:rows" value="${String(rows.length)}">${
    rows.map((row, index) => {
      const at = { name: `${name}.${String(index)}.`, path: `${path}/${String(index)}` }
      const line = html`<fieldset class="line${isShort ? ' row' : ''}"><legend>${fill(words.line, { n: index + 1 })}</legend>${
        helpAndFaults(words, { name, label }, { path: at.path, problems })
      }<div class="filters">${fieldsOf(words, items, { values: isObject(row) ? row : {}, problems }, at)}
<div class="actions"><button class="second" name=":remove" value="${name}.${String(index)}" aria-label="${
        fill(words.lineRemoveFull, { name: label, n: index + 1 })
      }">${words.lineRemove}</button></div></div></fieldset>`
      const [first = ''] = isObject(row) ? Object.keys(items.properties ?? {}).flatMap((column) => row[column] ?? []) : []
      const isFaulty = problems.some((problem) => problem.path === at.path || problem.path.startsWith(`${at.path}/`))
      if (rows.length <= maxOpen) return line
      return part(html`${fill(words.line, { n: index + 1 })} <span class="quiet">${shortened(plain(first), longestSummary)}</span>`, {
        isOpen: first === '' || isFaulty,
        content: line
      })
    })
  }${
    rows.length < maxRows
      ? html`<div class="actions"><button class="second" name=":add" value="${name}" aria-label="${
        fill(words.lineAddFull, { name: label })
      }">${words.lineAdd}</button></div>`
      : html``
  }</fieldset>`
}

/** Of more lines than these, a phone shows those alone that are empty or wrong, and of each other one what it begins with. */
const maxOpen = 3

/** The longest beginning of a line that stands where it is folded, in characters. */
const longestSummary = 80

/** Lines of so many fields, each of one line, stand below each other as the rows of a table do. */
const maxColumns = 6
const inRow: readonly Kind[] = ['text', 'number', 'choice', 'flag']

/** The most lines of a list in a form. */
export const maxRows = 100

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
  if (kind === 'texts' && isList(value)) return value.map(String).join('\n')
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
  if (kind === 'rows') return readRows(schema.items ?? {}, name, body)
  const text = ((kind === 'secret' ? secretIn(body, name) : body.get(name)) ?? '').replaceAll('\r\n', '\n')
  if (kind === 'secret' && text === '') return body.get(`${name}:delete`) === 'true' ? null : undefined
  if (kind === 'secret') return text
  if (text.trim() === '') return undefined
  if (kind === 'texts') return text.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  if (kind === 'choice') return choicesOf(schema)?.find((choice) => plain(choice) === text) ?? text
  return kind === 'text' ? text.trim() : readJson(text.trim())
}

/** The lines that were sent, without the one to be removed, and with a new one where that was asked for. */
function readRows (items: FieldSchema, name: string, body: URLSearchParams): Json | undefined {
  const sent = Number(body.get(`${name}:rows`))
  const count = Number.isInteger(sent) ? Math.min(Math.max(sent, 0), maxRows) : 0
  const rows = Array.from({ length: count }, (_, index) => readSettings(items, body, `${name}.${String(index)}.`))
    .filter((_, index) => body.get(':remove') !== `${name}.${String(index)}`)
  const all = body.get(':add') === name ? [...rows, {}] : rows
  return all.length === 0 ? undefined : all
}

function readJson (text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

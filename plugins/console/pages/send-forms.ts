import type { JsonObject } from '@dispatch/common'
import { type FieldSchema, isList, isObject, type SettingsForm } from '../form/schema.ts'
import { consoleParts, nextIn } from '../session/services.ts'
import { sampleOf } from './samples.ts'

type Fields = Readonly<Record<string, FieldSchema>>

/** What each service needs besides a template: the fields of its object in a request. */
export const serviceForms = formsOf(({ form }) => form)

/** What may follow in a chain, and needs besides: it sends a text of its own, and the document of the first one. */
export const followingForms = formsOf(({ form, following = form }) => following)

/** What may follow the services of a path, and has a form. */
export function followersOf (path: readonly string[]): string[] {
  return nextIn(path).filter((name) => Object.hasOwn(followingForms, name))
}

function formsOf (formIn: (part: typeof consoleParts[string]) => SettingsForm | undefined): Readonly<Record<string, SettingsForm>> {
  return Object.fromEntries(Object.entries(consoleParts).flatMap(([service, part]) => {
    const form = formIn(part)
    return form === undefined ? [] : [[service, { ...form, properties: worded(form.properties ?? {}) }]]
  }))
}

/** Fields whose texts are words of the console, by their names. */
function worded (fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, { ...inside(schema), 'x-words': name }]))
}

function inside ({ properties, items, ...schema }: FieldSchema): FieldSchema {
  return {
    ...schema,
    ...properties === undefined ? {} : { properties: worded(properties) },
    ...items === undefined ? {} : { items: inside(items) }
  }
}

/** The fields with which the form of a service begins that follows in a chain. */
export function followingOf (service: string): JsonObject {
  const { template: _template, [service]: own, ...lifted } = sampleOf(service)
  return isObject(own) ? own : lifted
}

/** The fields with which the form of a service begins. */
export function beginningOf (service: string, documentType: string | undefined): JsonObject {
  const { template: _template, [service]: own, ...lifted } = sampleOf(service)
  const { body: _body, message: _message, ...fields } = isObject(own) ? own : lifted
  const isTyped = Object.hasOwn(serviceForms[service]?.properties ?? {}, 'documentType')
  return { ...fields, ...isTyped && documentType !== undefined ? { documentType } : {} }
}

/** A file as the API lists it. */
export type ListedFile = { id: string, filename: string, contentType: string }

/** What stands in place of a template: a PDF that is there already, among files or by its id. `named`: what is chosen. */
export function givenForm (files: readonly ListedFile[], named: JsonObject): SettingsForm {
  const pdfs = files.filter(({ contentType }) => contentType === 'application/pdf')
  const file = fileChoice(pdfs, typeof named[fileField] === 'string' ? [named[fileField]] : [])
  const properties = { [fileField]: file ?? { type: 'string' }, documentId: { type: 'string' } }
  return { required: ['document'], properties: worded({ document: { type: 'object', properties } }) }
}

/** Whether lines of the form name files. */
export function namesFiles ({ properties = {} }: SettingsForm): boolean {
  return Object.values(properties).some(({ items }) => fileField in (items?.properties ?? {}))
}

const fileField = 'fileId'

/** A form whose lines choose among files. What a line names already is one of them. */
export function withFiles (form: SettingsForm, files: readonly ListedFile[], values: JsonObject): SettingsForm {
  const properties = Object.entries(form.properties ?? {}).map(([name, field]): [string, FieldSchema] => {
    const { [fileField]: file, ...others } = field.items?.properties ?? {}
    if (file === undefined) return [name, field]
    const lines = values[name]
    const named = (isList(lines) ? lines : []).flatMap((line) =>
      isObject(line) && typeof line[fileField] === 'string' ? [line[fileField]] : []
    )
    const choice = fileChoice(files, named)
    return choice === undefined
      ? [name, field]
      : [name, { ...field, items: { ...field.items, properties: { [fileField]: { ...choice, 'x-words': fileField }, ...others } } }]
  })
  return { ...form, properties: Object.fromEntries(properties) }
}

/** A choice among files, and those that are named already; undefined where there is none. */
function fileChoice (files: readonly Pick<ListedFile, 'id' | 'filename'>[], named: readonly string[]): FieldSchema | undefined {
  const unlisted = [...new Set(named)].filter((id) => !files.some((one) => one.id === id)).map((id) => ({ id, filename: id }))
  const anyOf = [...files, ...unlisted].map(({ id, filename }) => ({ const: id, title: filename }))
  return anyOf.length === 0 ? undefined : { anyOf }
}

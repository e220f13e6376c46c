import { isRecord, type Json, ownField } from '@dispatch/common'
import { CannotEdit, type DataField, dataFields, editText, type Loop, type OutlinedBlock, type TemplateOutline } from '@dispatch/documents'
import { objectIn } from '@dispatch/plugins/console'
import { blockForms, documentForms, type FormField } from './block-forms.ts'
import { linesIn, outlineIn, type Written } from './written.ts'

/** The part that is open: a block by its place, or the document itself. */
export const wholeDocument = '/'

/** A field as it stands in the form: `path` is its place in the template, and the name of the field after `v:`. */
export type ShownField = FormField & { value: unknown }

/** The form of what is open. `texts`: the words of the template that it shows, in each of its languages. */
export type ShownForm = {
  block?: OutlinedBlock
  fields: ShownField[]
  rows: { path: string, rows: ShownField[][] }[]
  texts: { name: string, fields: (ShownField & { language: string })[] }[]
}

/** The form of a block, or of the document; undefined where there is none, and for a block that is a text alone. */
export function formOf (outline: TemplateOutline, open: string): ShownForm | undefined {
  if (open === wholeDocument) {
    const fields = documentForms[outline.kind].map((field) => shown(outline.value, '', field))
    return { fields, rows: [], texts: textsIn(outline, fields) }
  }
  const block = blockIn(outline, open)
  const form = block?.kind === undefined ? undefined : blockForms[block.kind]
  if (block?.kind === undefined || form === undefined) return undefined
  const isShort = form.short === true && typeof ownField(block.value, block.kind) === 'string'
  const fields = form.fields.map((field) => {
    const found = shown(outline.value, open, field)
    return isShort && field.always === true ? { ...found, value: ownField(block.value, block.kind ?? '') } : found
  })
  const rows = (form.rows ?? []).map(({ path, fields: inner }) => {
    const list = at(outline.value, open + path)
    const items: readonly unknown[] = Array.isArray(list) ? list : []
    return {
      path: open + path,
      rows: items.map((_, index) => inner.map((field) => shown(outline.value, `${open}${path}/${String(index)}`, field)))
    }
  }).filter(({ path, rows: all }) => all.length > 0 || !path.endsWith('/groups/totals'))
  return { block, fields, rows, texts: textsIn(outline, [...fields, ...rows.flatMap((one) => one.rows.flat())]) }
}

function shown (value: unknown, base: string, field: FormField): ShownField {
  const path = `${base}/${field.path}`
  return { ...field, path, value: at(value, path) }
}

function at (value: unknown, path: string): unknown {
  return path.split('/').slice(1).reduce<unknown>(
    (inner, key) => Array.isArray(inner) ? inner[Number(key)] as unknown : ownField(inner, key.replaceAll('~1', '/').replaceAll('~0', '~')),
    value
  )
}

/** The words of the template that fields show (`t.name`). */
function textsIn ({ value }: TemplateOutline, fields: readonly ShownField[]): ShownForm['texts'] {
  const texts = isRecord(value['texts']) ? value['texts'] : {}
  const said = fields.map((field) => typeof field.value === 'string' ? field.value : '').join('\n')
  const names = new Set([...said.matchAll(/\bt\.([a-z][A-Za-z0-9]*)/g)].map(([, name = '']) => name))
  return [...names].map((name) => ({
    name,
    fields: Object.keys(texts).filter((language) => ownField(texts[language], name) !== undefined).map((language) => ({
      language,
      path: `/texts/${language}/${name}`,
      input: 'lines' as const,
      always: true as const,
      value: ownField(texts[language], name)
    }))
  })).filter((text) => text.fields.length > 0)
}

/** A block at any depth. */
export function blockIn ({ lists }: TemplateOutline, path: string): OutlinedBlock | undefined {
  const all = lists.flatMap(({ blocks }) => blocks)
  for (const block of all) {
    if (block.path === path) return block
    if (path.startsWith(`${block.path}/`)) all.push(...block.lists.flatMap(({ blocks }) => blocks))
  }
  return undefined
}

/** A value as its field has it. */
export function typedOf (value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** More fields than one step changes. Each is written into the text for itself, which takes the parser up to 30 ms. */
export class TooManyChanges extends CannotEdit {
  /** How many fields one step may change. */
  readonly max = 50
}

/** The source of a form, with what was typed into the fields of what is open. Throws CannotEdit, of which TooManyChanges is one. */
export function withFields (written: Written, body: URLSearchParams, open: string): string {
  const { source } = written
  const outline = outlineIn(written)
  const form = outline && formOf(outline, open)
  if (outline === undefined || form === undefined) return source
  const changed = [...form.fields, ...form.rows.flatMap(({ rows }) => rows.flat()), ...form.texts.flatMap(({ fields }) => fields)]
    .flatMap((field) => changeOf(field, body))
  const { block } = form
  const kind = block?.kind ?? ''
  const isShort = block !== undefined && typeof ownField(block.value, kind) === 'string' && blockForms[kind]?.short === true
  const within = `${open}/${kind}/`
  const own = isShort ? changed.filter(({ path }) => path.startsWith(within)) : []
  const others = changed.filter((one) => !own.includes(one))
  const values = Object.fromEntries(own.map(({ path, value }) => [path.slice(within.length), value]))
  const isText = own.every(({ path }) => path === `${within}text`)
  const sets = [
    ...own.length === 0
      ? []
      : [{ path: within.slice(0, -1), value: isText ? values['text'] : { text: ownField(block?.value, kind) as string, ...values } }],
    ...others.flatMap((one) => [one, ...pictureOf(outline, one)])
  ]
  const tooMany = new TooManyChanges('too many fields were changed')
  if (sets.length > tooMany.max) throw tooMany
  return editText(source, ...sets.map(({ path, value }) => ({ do: 'set', path, value }) as const))
}

/** A form with what was typed into it, which could not be written into the text. */
export function withTyped (form: ShownForm, body: URLSearchParams): ShownForm {
  const typed = <F extends ShownField>(field: F): F => {
    const [change] = changeOf(field, body)
    return change === undefined ? field : { ...field, value: change.value }
  }
  return {
    ...form,
    fields: form.fields.map(typed),
    rows: form.rows.map(({ path, rows }) => ({ path, rows: rows.map((fields) => fields.map(typed)) })),
    texts: form.texts.map(({ name, fields }) => ({ name, fields: fields.map(typed) }))
  }
}

type Change = { path: string, value: Json | undefined, input: FormField['input'] }

function changeOf ({ path, input, always, value }: ShownField, body: URLSearchParams): Change[] {
  const name = `v:${path}`
  if (input === 'flag') {
    const isSet = body.get(name) === 'true'
    return isSet === (value === true) ? [] : [{ path, input, value: isSet ? true : undefined }]
  }
  // What is no text is not shown in a field, and stays as it is.
  if (!body.has(name) || typeof value === 'object' && value !== null) return []
  const typed = linesIn(body, name)
  if (typed === typedOf(value)) return []
  if (typed === '' && always !== true) return [{ path, input, value: undefined }]
  const isNumber = input === 'number' || typeof value === 'number' || typeof input === 'object' && input.every((one) => /^\d+$/.test(one))
  return [{ path, input, value: isNumber && typed.trim() !== '' && Number.isFinite(Number(typed)) ? Number(typed) : typed }]
}

/** A picture of the company that the template does not name yet is named in it. */
function pictureOf ({ value }: TemplateOutline, { input, value: name }: Change): Change[] {
  if (input !== 'picture' || typeof name !== 'string' || ownField(value['assets'], name) !== undefined) return []
  return [{ path: `/assets/${name}`, value: `asset:${name}`, input: 'text' }]
}

/** The fields of the data that what is open may show. */
export function dataFieldsOf ({ schema, sample }: Written, outline: TemplateOutline, open: string): DataField[] {
  return dataFields(objectIn(schema) ?? {}, objectIn(sample), loopsAt(outline, open))
}

function loopsAt ({ lists }: TemplateOutline, open: string): Loop[] {
  const all = lists.flatMap(({ blocks }) => blocks)
  const loops: Loop[] = []
  for (const { path, kind, value, lists: inner } of all) {
    const isOpen = path === open
    if (!isOpen && !open.startsWith(`${path}/`)) continue
    const own = kind === 'each' && !isOpen ? [value] : kind === 'table' ? [at(value, '/table/groups'), at(value, '/table')] : []
    for (const loop of own) {
      const [each, as] = [ownField(loop, 'each'), ownField(loop, 'as')]
      if (typeof each === 'string' && typeof as === 'string') loops.push({ each, as })
    }
    all.push(...inner.flatMap(({ blocks }) => blocks))
  }
  return loops
}

/** How a text shows a field of the data. What may be missing is left out where it is. */
export function shownAs ({ path, type, required }: DataField): string {
  const filter = type === 'date' ? ' | date: "long"' : type === 'number' ? (amounts.test(path) ? ' | money' : ' | number') : ''
  if (filter === '') return required ? `{{ ${path} }}` : `{{ ${path} | default: "" }}`
  return required ? `{{ ${path}${filter} }}` : `{% if ${path} %}{{ ${path}${filter} }}{% endif %}`
}

/** Numbers that are amounts, as far as their names tell. */
const amounts = /(price|total|amount|sum)$/i

/** The source with a field of the data behind what a text says, or as an expression. Throws CannotEdit. */
export function withDataField (source: string, form: ShownForm, { into, field }: { into: string, field: string }): string {
  const target = [...form.fields, ...form.rows.flatMap(({ rows }) => rows.flat()), ...form.texts.flatMap(({ fields }) => fields)]
    .find(({ path }) => path === into)
  const name = /\{\{ ([\w.]+)/.exec(field)?.[1]
  if (target === undefined || name === undefined) return source
  if (target.input === 'expression') return editText(source, { do: 'set', path: into, value: name })
  const text = typedOf(target.value)
  const { block } = form
  const isShort = block?.kind !== undefined && typeof ownField(block.value, block.kind) === 'string' && into.startsWith(`${block.path}/`)
  const path = isShort ? `${block.path}/${block.kind}` : into
  return editText(source, { do: 'set', path, value: text === '' || /\s$/.test(text) ? text + field : `${text} ${field}` })
}

import type { Json } from '@dispatch/common'
import { documentValue, type Meaning } from '@dispatch/services'
import type { Description } from './description.ts'
import { isList, type Shape, shapeOf } from './schema.ts'

/** The code of a value in a request, and what it makes of the request of the outline. */
export type Made = { code: string, value: Json | undefined }

/** A setting that a company fills in, because the vendor demands a value that no request has. */
export type MadeSetting = { code: string, value: Json }

/** What is found out while a request is written. `undecided`: what a person must look at, in sentences. */
export type Notes = { settings: Map<string, MadeSetting>, undecided: string[], mailbox: boolean }

type Place = {
  description: Description
  means: readonly Meaning[]
  notes: Notes
  depth: number /** Inside of a list of ours. */
  isItem?: boolean
}

/** How deep the required fields of a request may stand. */
const deepest = 8

/** The members of a body: those that mean something of ours, and those that the vendor demands. */
export function membersOf (place: Place, shape: Shape): [string, Made][] {
  if (place.depth > deepest) throw new Error('The fields that its request demands refer to themselves: nothing was made.')
  return shape.fields.flatMap(({ name, schema, isRequired }): [string, Made][] => {
    const made = fieldOf(place, name, schema) ?? (isRequired ? demanded(place, name, schema) : undefined)
    return made === undefined ? [] : [[name, made]]
  })
}

/** How many fields of a body mean something of ours. */
export function knownFields (place: Omit<Place, 'notes' | 'depth'>, shape: Shape): number {
  return shape.fields.filter(({ name }) => meaningOf(place.means, name) !== undefined).length
}

function meaningOf (means: readonly Meaning[], name: string): Meaning | undefined {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return means.find(({ names }) => names.split('|').includes(plain))
}

/** A field by its name, where its type is one that ours can be put into. */
function fieldOf (place: Place, name: string, schema: Json | undefined): Made | undefined {
  const meaning = meaningOf(place.means, name)
  if (meaning === undefined) return undefined
  const { code, value, fields = [], each } = meaning
  const shape = shapeOf(place.description, schema)
  if (shape.type === 'object') {
    if (fields.length === 0 || each !== undefined) return undefined
    return objectOf(membersOf({ ...place, means: fields.map((one) => about(one, code, value, place)), depth: place.depth + 1 }, shape))
  }
  if (shape.type === 'array') return listOf(place, meaning, shapeOf(place.description, shape.items))
  if (value === documentValue) return shape.isFile || place.isItem === true ? { code, value } : undefined
  if (isList(value)) {
    return each === 'file'
      ? undefined
      : { code: `${code}.join(', ')`, value: value.filter((one) => typeof one === 'string').join(', ') }
  }
  if (typeof value === 'object' && value !== null) return undefined
  return shape.type === undefined || shape.type === typeof value || value === undefined ? { code, value } : undefined
}

/** A list of ours, or one value of ours in a list. */
function listOf (place: Place, { code, value, fields = [], each }: Meaning, items: Shape): Made | undefined {
  if (each === undefined) {
    const [one] = isList(value) ? value : [value]
    if (one === documentValue && !items.isFile) return undefined
    return isList(value) ? { code, value } : { code: `[${code}]`, value: value === undefined ? [] : [value] }
  }
  if (items.type !== 'object') return items.type === 'string' && each !== 'file' ? { code, value } : undefined
  const [first] = isList(value) ? value : []
  const means = fields.map((one) => about(one, each, first, place))
  const { code: item, value: made } = objectOf(membersOf({ ...place, means, depth: place.depth + 1, isItem: true }, items))
  return { code: `${code}.map((${each}) => (${item}))`, value: first === undefined ? [] : [made ?? {}] }
}

/** A field of a thing of ours: `%` is the thing. */
function about (field: Meaning, thing: string, value: Json | undefined, { notes }: Place): Meaning {
  return {
    ...field,
    get code () {
      if (field.code.includes('mailboxOf')) notes.mailbox = true
      return field.code.replaceAll('%', thing)
    },
    ...(field.value === '%' && { value })
  }
}

/** What the vendor demands, and no request of ours has. */
function demanded (place: Place, name: string, schema: Json | undefined): Made {
  const { notes } = place
  const shape = shapeOf(place.description, schema)
  if (shape.fixed !== undefined && typeof shape.fixed !== 'object') return { code: literal(shape.fixed), value: shape.fixed }
  const [choice] = shape.choices
  if (choice !== undefined) {
    notes.undecided.push(`\`${name}\` is ${literal(choice)}: it may be ${shape.choices.slice(0, 8).map(literal).join(', ')}.`)
    return { code: literal(choice), value: choice }
  }
  if (shape.type === 'object') return objectOf(membersOf({ ...place, depth: place.depth + 1 }, shape))
  if (shape.type === 'array') {
    if (place.depth >= deepest) throw new Error('The fields that its request demands refer to themselves: nothing was made.')
    const { code, value } = demanded({ ...place, depth: place.depth + 1 }, name, shape.items)
    return { code: `[${code}]`, value: value === undefined ? [] : [value] }
  }
  return settingOf(notes, name, shape)
}

/** A setting with the name of a field. */
export function settingOf (notes: Notes, name: string, { type }: Pick<Shape, 'type'>): Made {
  const [kind, value]: [string, Json] = type === 'boolean'
    ? ['Boolean', true]
    : type === 'integer'
    ? ['Integer', 7]
    : type === 'number'
    ? ['Number', 7]
    : ['String', `some-${words(name).join('-')}`]
  const setting = words(name).map((word, index) => index === 0 ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('')
  const code = isSecret(name) ? `Secret({ title: ${literal(sentence(name))} })` : `Type.${kind}({ title: ${literal(sentence(name))} })`
  notes.settings.set(setting, { code, value })
  notes.undecided.push(`\`${name}\` comes from the setting \`${setting}\`: the vendor demands it, and no field of ours has that name.`)
  return { code: `settings.${setting}`, value }
}

/** Whether a field proves who asks. */
export function isSecret (name: string): boolean {
  return /key|secret|token|password|signature/.test(words(name).join(' '))
}

/** The words of a name, whatever joins them; one begins with a letter. */
export function words (name: string): string[] {
  const found = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase().match(/[a-z0-9]+/g) ?? ['field']
  return /^[a-z]/.test(found[0]) ? found : ['field', ...found]
}

function sentence (name: string): string {
  const text = words(name).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** An object as the code of a literal. */
export function objectOf (members: readonly (readonly [string, Made])[]): Made {
  const parts = members.map(([name, { code }]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)}: ${code}`)
  const line = `{ ${parts.join(', ')} }`
  const code = parts.length === 0
    ? '{}'
    : line.length <= 100 && !line.includes('\n')
    ? line
    : `{\n${parts.map((part) => indented(part)).join(',\n')}\n}`
  const given = members.flatMap(([name, { value }]) => value === undefined ? [] : [[name, value] as const])
  return { code, value: Object.fromEntries(given) }
}

export function indented (text: string, by = '  '): string {
  return text.split('\n').map((line) => by + line).join('\n')
}

/** A value as code: texts in simple quotes. */
export function literal (value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll('\'', '\\\'')}'`
}

import { didYouMean, pointer } from '@dispatch/common'
import { brandNames } from '../model/brand.ts'
import type { Fault } from '../model/errors.ts'
import { type FieldUsage, markUsed, type Path, type Read } from './field-usage.ts'

/** Prose by language and name. */
export type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The place in a template that is compiled, and the facts about it. */
export type CompileContext = {
  /** JSON pointer into template.yaml. */
  readonly at: string
  /** The variables of the surrounding loops, with their lists. */
  readonly names: Readonly<Record<string, Path>>
  /** The words of the template by language and name; expressions read them as `t.name`. */
  readonly texts: Texts
  /** Whether `brand` is that of the company. Without it, `brand` is an ordinary field of the data. */
  readonly takesBrand: boolean
  /** Whether `page` and `pages` are the number of the page and of all pages. */
  readonly pageFields: boolean
  /** Whether the place is inside columns or a group, and not directly in the body. */
  readonly isInside: boolean
  /** The number of blocks around it. */
  readonly depth: number
  readonly uses: FieldUsage
  readonly reads: Read[]
  /** The signers who have a place for any data. */
  readonly signers: Set<number>
  readonly inclusion: Inclusion
  readonly faults: Fault[]
}

/**
 * What a template includes. `within`: the partials around a place; `includedAt`: where each is included first; `blocks`: how many blocks of
 * partials were compiled.
 */
export type Inclusion = {
  readonly within: readonly string[]
  readonly includedAt: Map<string, string>
  readonly counted: { blocks: number }
}

export function noInclusion (): Inclusion {
  return { within: [], includedAt: new Map(), counted: { blocks: 0 } }
}

/** The place below, at a key or index of the template. */
export function contextBelow (site: CompileContext, ...keys: (string | number)[]): CompileContext {
  return { ...site, at: keys.reduce<string>((path, key) => pointer(path, key), site.at) }
}

/** Records a fault of the template. Compiling continues, so that all faults are found at once. */
export function reportFault (site: CompileContext, message: string, code = 'template_error'): void {
  site.faults.push({ path: site.at, code, message })
}

/** Records that the template reads these fields, and returns their path from the root of the data. */
export function recordRead (site: CompileContext, fields: Path, as: Read['as']): Path {
  const [first = '', ...rest] = fields
  if (first === 't' && hasTexts(site)) return readText(site, rest)
  if (first === 'brand' && site.takesBrand && !Object.hasOwn(site.names, first)) return readBrand(site, rest)
  const source = Object.hasOwn(site.names, first) ? site.names[first] : undefined
  const path = source === undefined ? fields : [...source, ...rest]
  markUsed(site.uses, path, as)
  site.reads.push({ path, as, at: site.at })
  return path
}

/** Whether the template has its own words. Without them, `t` is an ordinary field of the data. */
export function hasTexts ({ texts }: CompileContext): boolean {
  return Object.keys(texts).length > 0
}

/** A word that is used as a value is not evaluated. A word with expressions is prose, and must be alone in its braces. */
function readText (site: CompileContext, [name = '']: Path): Path {
  const [words = {}] = Object.values(site.texts)
  if (!Object.hasOwn(words, name)) reportFault(site, `"texts" has no "${name}"${didYouMean(name, Object.keys(words))}.`)
  const isProse = Object.values(site.texts).some((known) => hasExpressions(known[name] ?? ''))
  if (isProse) reportFault(site, `The text "${name}" contains expressions: it can only be shown as a whole, as {{ t.${name} }}.`)
  return []
}

/** A name of the brand is no field of the data. */
function readBrand (site: CompileContext, path: Path): Path {
  const [name = '', field = ''] = path
  const fields = Object.hasOwn(brandNames, name) ? brandNames[name] ?? [] : undefined
  if (fields === undefined) reportFault(site, unknownName('brand', name, Object.keys(brandNames)))
  else if (fields.length > 0 ? !fields.includes(field) : path.length > 1) reportFault(site, unknownName(`brand.${name}`, field, fields))
  return []
}

function unknownName (of: string, name: string, known: readonly string[]): string {
  if (known.length === 0) return `"${of}" is one value, and has no "${name}".`
  return `"${of}" has no "${name}"${didYouMean(name, known)}: it has ${known.join(', ')}.`
}

/** Whether a text is prose, which depends on the data. */
export function hasExpressions (text: string): boolean {
  return /\{[{%]/.test(text)
}

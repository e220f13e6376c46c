import type { Json } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { fieldWords, wordFor, type Words } from '../language/language.ts'
import { isList, isObject } from './schema.ts'

/** Parts of a pointer that only say whose values follow. */
const around = ['template', 'data', 'settings']

/** What a form calls its fields. */
export type LabelOf = (name: string) => string | undefined

/**
 * Where something is, by the words that forms have for fields: `Lines › 2 › Price of a unit`. A pointer with a name that no form has words
 * for is shown as it is. Items of a list are counted from 1. `labelOf`: the form has words of its own. `whole`: what the pointer points
 * into, where it is known.
 */
export function placeIn (words: Words, path: string, { labelOf, whole }: { labelOf?: LabelOf | undefined, whole?: Json } = {}): Html {
  const names = namesIn(words, path, { labelOf, whole })
  return names === undefined ? html`<code>${path}</code>` : html`<em>${names}</em>`
}

/** The same for what has no markup. */
export function placeTextIn (words: Words, path: string): string {
  return namesIn(words, path, {}) ?? path
}

function namesIn (
  words: Words,
  path: string,
  { labelOf, whole }: { labelOf?: LabelOf | undefined, whole?: Json | undefined }
): string | undefined {
  const names = path.split('/').slice(1).map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const isItem = (index: number): boolean =>
    whole === undefined ? lists.has(names[index - 1] ?? '') : isList(at(whole, names.slice(0, index)))
  const parts = names.flatMap((part, index) =>
    around.includes(part)
      ? []
      : /^\d+$/.test(part)
      ? [isItem(index) ? String(Number(part) + 1) : part]
      : [labelOf?.(part) ?? wordOf(words, part, index === 0)]
  )
  const known = parts.filter((part) => part !== undefined)
  return known.length === 0 || known.length < parts.length ? undefined : known.join(' › ')
}

/** Fields that are lists wherever they stand, by whose names items are told where nobody has the values. */
const lists: ReadonlySet<string> = new Set(['allowances', 'attachments', 'bcc', 'cc', 'charges', 'documents', 'enclosures', 'files',
  'invoices', 'lines', 'notes', 'paragraphs', 'recipients', 'replyTo', 'services', 'signers', 'taxes', 'to'])

function at (whole: Json, names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>((value, name) => isList(value) ? value[Number(name)] : isObject(value) ? value[name] : undefined,
    whole)
}

/** `isFirst`: a service that has the name is what is meant. */
function wordOf (words: Words, part: string, isFirst: boolean): string | undefined {
  const service = wordFor(words, 'service', part)
  const candidates = [...isFirst ? [service] : [], fieldWords(words, part).title, wordFor(words, 'data', part), service]
  return candidates.find((word) => word !== undefined && word !== part)
}

import { type Html, html } from '../../html.ts'
import { fieldWords, wordFor, type Words } from '../language/language.ts'

/** Parts of a pointer that only say whose values follow. */
const around = ['template', 'data', 'settings']

/** What a form calls its fields. */
export type LabelOf = (name: string) => string | undefined

/**
 * Where something is, by the words that forms have for fields: `Lines › 2 › Price of a unit`. A pointer with a name that no form has words
 * for is shown as it is. `labelOf`: the form has words of its own.
 */
export function placeIn (words: Words, path: string, labelOf?: LabelOf): Html {
  const parts = path.split('/').slice(1).filter((part) => !around.includes(part)).map((part) => labelOf?.(part) ?? wordOf(words, part))
  const known = parts.filter((part) => part !== undefined)
  return known.length === 0 || known.length < parts.length ? html`<code>${path}</code>` : html`<em>${known.join(' › ')}</em>`
}

function wordOf (words: Words, part: string): string | undefined {
  if (/^\d+$/.test(part)) return String(Number(part) + 1)
  const candidates = [fieldWords(words, part).title, wordFor(words, 'data', part), wordFor(words, 'service', part)]
  return candidates.find((word) => word !== undefined && word !== part)
}

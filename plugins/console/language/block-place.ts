import { fill, textIn, type Words } from './language.ts'

/** A place in the source of a template, as the service names it in a sentence. */
const place = /\bat (?<at>\/(?:body|header|footer|subject|watermark|partials|texts)(?:\/[\w~-]+)*)/

/** The place in a template at which a document fails, by a sentence of the service; undefined where that is about no such place. */
export function blockIn (message: string): string | undefined {
  return place.exec(message)?.groups?.['at']
}

/** What the parts of a template are called besides its body. */
const parts: Readonly<Record<string, { en: string, fr: string }>> = {
  header: { en: 'header', fr: 'en-tête' },
  footer: { en: 'footer', fr: 'pied de page' },
  subject: { en: 'subject', fr: 'sujet' },
  watermark: { en: 'watermark', fr: 'filigrane' },
  texts: { en: 'texts', fr: 'textes' },
  partials: { en: 'shared part', fr: 'bloc commun' }
}

/** A place in a template in words: the numbers of its blocks, counted from 1, from the outside to the inside. */
export function blockPlace (words: Words, at: string): string {
  const [part = '', ...names] = at.split('/').slice(1)
  const numbers = names.filter((name) => /^\d+$/.test(name)).map((name) => String(Number(name) + 1)).join('.')
  const known = parts[part]
  const [name] = part === 'partials' ? names : []
  const called = known === undefined ? undefined : `${textIn(words, known)}${name === undefined ? '' : ` “${name}”`}`
  if (called === undefined) return numbers === '' ? at : fill(words.blockPlace, { n: numbers })
  return numbers === '' ? called : fill(words.blockPlaceOf, { part: called, n: numbers })
}

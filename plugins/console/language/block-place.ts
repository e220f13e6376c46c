import { fill, textIn, type Words } from './language.ts'

/** What the parts of a template, and of the layouts and blocks that templates share, are called besides the body. */
const parts: Readonly<Record<string, { en: string, fr: string }>> = {
  header: { en: 'header', fr: 'en-tête' },
  firstHeader: { en: 'header of the first page', fr: 'en-tête de la première page' },
  footer: { en: 'footer', fr: 'pied de page' },
  before: { en: 'before the text', fr: 'avant le texte' },
  after: { en: 'after the text', fr: 'après le texte' },
  subject: { en: 'subject', fr: 'sujet' },
  title: { en: 'title', fr: 'titre' },
  author: { en: 'author', fr: 'auteur' },
  preheader: { en: 'preheader', fr: 'texte d’aperçu' },
  currency: { en: 'currency', fr: 'monnaie' },
  watermark: { en: 'watermark', fr: 'filigrane' },
  texts: { en: 'texts', fr: 'textes' }
}

/** A place in the source of a template, as the service names it in a sentence. */
const place = new RegExp(`\\bat (?<at>/(?:body|partials|${Object.keys(parts).join('|')})(?:/[\\w~-]+)*)`)

/** The place in a template at which a document fails, by a sentence of the service; undefined where that is about no such place. */
export function blockIn (message: string): string | undefined {
  return place.exec(message)?.groups?.['at']
}

/** A place in what the template includes: in shared blocks, or in a part of its layout; undefined for one in the template itself. */
function sharedPlace (at: string): { name: string, part: string | undefined, within: string } | undefined {
  const [, root, given = '', ...rest] = at.split('/')
  if (root !== 'partials') return undefined
  const [name = '', part] = given.replaceAll('~1', '/').split('/')
  return { name, part, within: ['', part ?? 'blocks', ...rest].join('/') }
}

/** A place in a template in words: the numbers of its blocks, counted from 1, from the outside to the inside. */
export function blockPlace (words: Words, at: string): string {
  const shared = sharedPlace(at)
  const [part = '', ...names] = (shared?.within ?? at).split('/').slice(1)
  const numbers = names.filter((name) => /^\d+$/.test(name)).map((name) => String(Number(name) + 1)).join('.')
  const called = [...shared === undefined ? [] : [sharedName(words, shared)], ...Object.hasOwn(parts, part) ? [partName(words, part)] : []]
  if (called.length === 0) return numbers === '' ? at : fill(words.blockPlace, { n: numbers })
  return numbers === '' ? called.join(', ') : fill(words.blockPlaceOf, { part: called.join(', '), n: numbers })
}

const partName = (words: Words, part: string): string => textIn(words, parts[part] ?? { en: part, fr: part })

function sharedName (words: Words, { name, part }: { name: string, part: string | undefined }): string {
  const text = part === undefined
    ? { en: 'shared part “{name}”', fr: 'bloc commun « {name} »' }
    : { en: 'layout “{name}”', fr: 'mise en page « {name} »' }
  return fill(textIn(words, text), { name })
}

/** The page that opens the block at a place: that of the template or, of what templates share, its own. */
export function blockPage (templateId: number, at: string): string {
  const shared = sharedPlace(at)
  const page = shared === undefined ? `templates/${String(templateId)}` : `partials/${encodeURIComponent(shared.name)}`
  return `/console/${page}/blocks?open=${encodeURIComponent(shared?.within ?? at)}`
}

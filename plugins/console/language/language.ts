import { en } from './en.ts'
import { fr } from './fr.ts'
import { serviceWords } from './service-words.ts'

/** The texts of the console in one language. */
export type Words = Readonly<Record<keyof typeof en, string>>

/** French puts a space before some signs, and within quotation marks, at which no line may break. */
const spacedText = (text: string): string => text.replaceAll(/ (?=[:;!?»])|(?<=«) /g, '\u00a0')

function spacedIn<Name extends string> (texts: Readonly<Record<Name, string>>): Readonly<Record<Name, string>> {
  return Object.fromEntries(Object.entries<string>(texts).map(([name, text]) => [name, spacedText(text)])) as Record<Name, string>
}

export const languages: Readonly<Record<'en' | 'fr', Words>> = {
  en: { ...serviceWords('en'), ...en },
  fr: { ...spacedIn(serviceWords('fr')), ...spacedIn<keyof Words>(fr) }
}

/**
 * The texts of a feature beside those of the console, in the language of the console's. They are put together for the first page that needs
 * them: those of all features together are twenty copies of the console's.
 */
export function withWords<
  Name extends string
> (own: Readonly<Record<'en' | 'fr', Readonly<Record<Name, string>>>>): (words: Words) => Words & Readonly<Record<Name, string>> {
  const made: { en?: Words & Readonly<Record<Name, string>>, fr?: Words & Readonly<Record<Name, string>> } = {}
  return ({ code }) => code === 'fr' ? made.fr ??= { ...languages.fr, ...spacedIn(own.fr) } : made.en ??= { ...languages.en, ...own.en }
}

/** A text of a feature in the language of these words. */
export function textIn ({ code }: Words, text: { readonly en: string, readonly fr: string }): string {
  return code === 'fr' ? spacedText(text.fr) : text.en
}

/** A text with values in the places of their `{names}`. */
export function fill (text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place))
}

/** So many credits, in the plural of the language: French counts none as it counts one. Behind digits, whole millions have no “de”. */
export function creditsOf (words: Words, n: number): string {
  const { plurals, numbers } = countingIn(words.code)
  const text = plurals.select(n) === 'one' ? words.credits_one : words.credits_other
  return fill(text, { n: numbers.format(n) })
}

/** A number as the language writes it. */
export function numberOf ({ code }: Words, n: number): string {
  return countingIn(code).numbers.format(n)
}

type Counting = { plurals: Intl.PluralRules, numbers: Intl.NumberFormat }

/** By language: to make them takes many times as long as to use them. */
const countings = new Map<string, Counting>()

function countingIn (code: string): Counting {
  const known = countings.get(code)
  if (known !== undefined) return known
  const made = { plurals: new Intl.PluralRules(code), numbers: new Intl.NumberFormat(code) }
  countings.set(code, made)
  return made
}

/** What the API has codes for that a language has words for. */
type Kind =
  | 'status'
  | 'delivery'
  | 'deferred'
  | 'outcome'
  | 'state'
  | 'conformance'
  | 'feature'
  | 'effect'
  | 'event'
  | 'cause'
  | 'fault'
  | 'earnest'
  | 'role'
  | 'scope'
  | 'rights'
  | 'ledger'
  | 'tier'
  | 'health'
  | 'version'
  | 'mode'
  | 'choice'
  | 'service'
  | 'field_documentType'
  | 'data'
  | 'fact'
  | 'seller'
  | 'saying'

/** The word for a code of the API, such as a status; the code itself where the language has none. */
export function wordFor (words: Words, kind: Kind, code: string): string {
  const [texts, key]: [Readonly<Record<string, string>>, string] = [words, `${kind}_${code}`]
  return Object.hasOwn(texts, key) ? texts[key] ?? code : code
}

/** Codes as choices of a form, by their words. */
export function optionsFor (words: Words, kind: Kind, codes: readonly string[]): { value: string, label: string }[] {
  return codes.map((value) => ({ value, label: wordFor(words, kind, value) }))
}

/** What services are called; adapters may bring some that the language has no word for. */
export function serviceNames (words: Words, services: readonly string[], separator = ', '): string {
  return services.map((service) => wordFor(words, 'service', service)).join(separator)
}

/** The services that somebody may use; `*` or null: all of them. */
export function allowedServices (words: Words, services: readonly string[] | null): string {
  return services === null || services.includes('*') ? words.allServices : serviceNames(words, services)
}

/** What a type of document is called; a plugin may bring types that only it knows. */
export function documentTypeName (words: Words, type: string): string {
  return wordFor(words, 'field_documentType', type)
}

/** What a field of a service is called, or one of its choices, and what its reader should know; nothing where the name says all. */
export function fieldWords (words: Words, name: string): { title?: string, description?: string } {
  const texts: Readonly<Record<string, string>> = words
  const [title, description] = [`field_${name}`, `help_${name}`].map((key) => Object.hasOwn(texts, key) ? texts[key] : undefined)
  return { ...title === undefined ? {} : { title }, ...description === undefined ? {} : { description } }
}

import { blockPlace } from './block-place.ts'
import { fill, textIn, wordFor, type Words } from './language.ts'
import { french, vague } from './problem-sentences.ts'
import { frenchReasonOf } from './reason-sentences.ts'
import { frenchRules } from './rule-sentences.ts'

/** What words, reasons and codes mean, those of rules of e-invoices too. */
const inFrench: Readonly<Record<string, string>> = { ...french, ...frenchRules }

/** A problem or an error of the API: its code, or its reason and word, and its own sentence. */
export type Reported = { message: string, code?: string | undefined, reason?: string | undefined, error?: string | undefined }

/** A sentence for the reader. `lang`: it is the API's own, in another language than the page. */
export type Said = { text: string, lang?: 'en' }

/**
 * What the console says of a problem or an error. The API's sentences are for programs, too: what they tell of its operations is left
 * out. In French the code, the reason or the word has a sentence of its own; the API's follows where that one is vague.
 */
export function saidOf (words: Words, { message, code, reason, error }: Reported): readonly Said[] {
  const own = withoutOperations(message)
  const whole = wholeOf(words, own)
  if (whole !== undefined) return [{ text: whole }]
  if (words.code === 'en') return [{ text: own }]
  const given = frenchReasonOf(words, own)
  if (given !== undefined) return [{ text: given }]
  const quoted: Said = { text: own, lang: 'en' }
  const name = [code, reason, error].find((one) => one !== undefined && Object.hasOwn(inFrench, one))
  if (name === undefined) return [quoted]
  const said: Said = { text: textIn(words, { en: own, fr: inFrench[name] ?? '' }) }
  return vague.has(name) ? [said, quoted] : [said]
}

/** The same as one text, for what has no markup. */
export function textOfSaid (words: Words, reported: Reported): string {
  return saidOf(words, reported).map(({ text }) => text).join(' ')
}

/** A sentence without what it tells programs to call: `: set one with PUT /api/…`, `(POST /api/…)`. */
function withoutOperations (message: string): string {
  return message.replaceAll(/ \((?:GET|POST|PUT|DELETE) \/[^)]*\)/g, '')
    .replace(/[:;,.] [^:;,.]*\b(?:GET|POST|PUT|DELETE) \/[^]*$/, '.')
}

type Text = { readonly en: string, readonly fr: string }

function wholeOf (words: Words, message: string): string | undefined {
  for (const { of, say } of sentences) {
    const found = of.exec(message)
    if (found !== null) return say(words, found.groups ?? {})
  }
  return undefined
}

type Groups = Readonly<Record<string, string | undefined>>
type Sentence = { of: RegExp, say: (words: Words, groups: Groups) => string | undefined }

/** A sentence with the values of the API's in it. */
const reported = (of: RegExp, text: Text): Sentence => ({
  of,
  say: (words, groups) => fill(textIn(words, text), Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value ?? ''])))
})

/** Sentences of the API about the shape of values, which words of the console take the place of. */
const sentences: readonly Sentence[] = [
  reported(/^The field "[^"]*" is required\.$/, { en: 'Fill this in.', fr: 'À remplir.' }),
  reported(/^The field "[^"]*" is required where "(?<other>[^"]*)" is given\.$/, {
    en: 'Fill this in too: it belongs to “{other}”.',
    fr: 'À remplir aussi : cela va avec « {other} ».'
  }),
  { of: /^Expected (?<types>[\w ]+), got [\w ]+\./, say: typeSaid },
  { of: /^Expected one of (?<values>.+?)(?: \(did you mean "(?<near>[^"]*)"\?\))?\.$/, say: choiceSaid },
  reported(/^Unknown field "(?<name>[^"]*)" \(did you mean "(?<near>[^"]*)"\?\)\.$/, {
    en: 'There is no field “{name}”. Did you mean “{near}”?',
    fr: 'Le champ « {name} » n’existe pas. Vouliez-vous dire « {near} » ?'
  }),
  reported(/^Unknown field "(?<name>[^"]*)"\.$/, { en: 'There is no field “{name}”.', fr: 'Le champ « {name} » n’existe pas.' }),
  reported(/^Must not be empty\.$/, { en: 'This must not be empty.', fr: 'Ce champ ne doit pas être vide.' }),
  reported(/^Needs at least (?<n>\d+) characters\.$/, { en: 'Write at least {n} characters.', fr: 'Au moins {n} caractères.' }),
  reported(/^May have at most (?<n>\d+) characters\.$/, { en: 'Write at most {n} characters.', fr: 'Au plus {n} caractères.' }),
  reported(/^Needs at least (?<n>\d+) (?:items|fields)\.$/, { en: 'At least {n} are needed.', fr: 'Il en faut au moins {n}.' }),
  reported(/^May have at most (?<n>\d+) (?:items|fields)\.$/, { en: 'At most {n} are possible.', fr: 'Il en faut au plus {n}.' }),
  reported(/^Must be at least (?<n>-?[\d.e+]+)\.$/, { en: 'This must be {n} or more.', fr: 'La valeur doit être {n} ou plus.' }),
  reported(/^Must be at most (?<n>-?[\d.e+]+)\.$/, { en: 'This must be {n} or less.', fr: 'La valeur doit être {n} ou moins.' }),
  reported(/^Must be more than (?<n>-?[\d.e+]+)\.$/, { en: 'This must be more than {n}.', fr: 'La valeur doit être supérieure à {n}.' }),
  reported(/^Must be less than (?<n>-?[\d.e+]+)\.$/, { en: 'This must be less than {n}.', fr: 'La valeur doit être inférieure à {n}.' }),
  reported(/^Two items are the same\.$/, { en: 'Two of these are the same.', fr: 'Deux de ces valeurs sont identiques.' }),
  reported(/^Not a valid date \(YYYY-MM-DD\)\.$/, {
    en: 'This is not a date, such as 2026-03-14.',
    fr: 'Ce n’est pas une date, comme 2026-03-14.'
  }),
  reported(/^Not a valid (?:e-mail address|sender)\b[^.]*(?:\.[^. ]+)*\.$/, {
    en: 'This is not an e-mail address, such as ada@example.com.',
    fr: 'Ce n’est pas une adresse e-mail, comme ada@example.com.'
  }),
  reported(/^Not a valid https:\/\/ URL \([^)]*\)\.$/, {
    en: 'This is not an address that begins with https://, without a user name and password.',
    fr: 'Ce n’est pas une adresse qui commence par https://, sans nom d’utilisateur ni mot de passe.'
  }),
  reported(/^Not a valid URL\.$/, { en: 'This is not an address of the web.', fr: 'Ce n’est pas une adresse du web.' }),
  {
    of: /^No provider is chosen for "(?<service>\w+)": name one in "providerName"\.$/,
    say: (words, { service = '' }) =>
      fill(
        textIn(words, {
          en: 'No provider is chosen for this: {service}. Choose one here, or for all on the page of providers.',
          fr: 'Aucun fournisseur n’est choisi pour ce service : {service}. Choisissez-en un ici, ou pour tous à la page des fournisseurs.'
        }),
        { service: wordFor(words, 'service', service) }
      )
  },
  {
    of: /^It is no address of the channel "(?<channel>\w+)"\.$/,
    say: (words, { channel = '' }) =>
      fill(textIn(words, { en: 'This is no address for: {service}.', fr: 'Ce n’est pas une adresse pour : {service}.' }), {
        service: wordFor(words, 'service', channel)
      })
  },
  {
    of: /^The template shows "(?<name>[^"]*)" \(at (?<at>\/[^)]*)\), but the data have no such value\.$/,
    say: (words, { name = '', at = '' }) =>
      fill(
        textIn(words, {
          en: 'The template shows “{name}” ({place}), but the data have no such value.',
          fr: 'Le modèle montre « {name} » ({place}), mais les données n’ont pas cette valeur.'
        }),
        { name, place: blockPlace(words, at) }
      )
  },
  {
    of: /^The template's expression at (?<at>\/\S*) failed: (?<why>[^]*)$/,
    say: (words, { at = '', why = '' }) =>
      fill(
        textIn(words, {
          en: 'An expression of the template fails ({place}): {why}',
          fr: 'Une expression du modèle échoue ({place}) : {why}'
        }),
        { place: blockPlace(words, at), why }
      )
  },
  reported(/^A picture has (?<n>\d+) MiB at most\.$/, {
    en: 'A picture has {n} MiB at most: make it smaller.',
    fr: 'Une image a {n} Mio au plus : réduisez-la.'
  }),
  reported(/^An image may have at most (?<n>\d+) pixels\.$/, {
    en: 'This picture has too many pixels: {n} are possible, width times height. Make it smaller.',
    fr: 'Cette image a trop de pixels : {n} au plus, largeur fois hauteur. Réduisez-la.'
  }),
  reported(/^An image may have at most (?<n>\d+) bytes\.$/, {
    en: 'This picture is too large: {n} bytes are possible. Make it smaller.',
    fr: 'Cette image est trop lourde : {n} octets au plus. Réduisez-la.'
  }),
  reported(/^The picture has (?<n>\d+) bytes; at most (?<most>\d+) are permitted: [^]*$/, {
    en: 'This picture has {n} bytes, and {most} are possible: make it smaller, or save it as a JPEG.',
    fr: 'Cette image a {n} octets, et {most} sont possibles : réduisez-la, ou enregistrez-la en JPEG.'
  }),
  reported(/^Expected (?:a PNG or JPEG|an) image as a data URI[^]*$/, {
    en: 'This is no PNG or JPEG picture: save it as one of these.',
    fr: 'Ce n’est pas une image PNG ou JPEG : enregistrez-la dans l’un de ces formats.'
  }),
  reported(/^The image is not a readable (?<format>\w+) file\.$/, {
    en: 'This picture cannot be read: it is not a whole {format} file.',
    fr: 'Cette image est illisible : ce n’est pas un fichier {format} entier.'
  }),
  reported(/^The PDF cannot show (?<signs>[^:]+): there is no font for them\.$/, {
    en: 'The PDF cannot show these signs: {signs}. There is no font for them.',
    fr: 'Le PDF ne peut pas montrer ces signes : {signs}. Aucune police ne les a.'
  }),
  reported(/^The provider "(?<code>[^"]*)" has no configuration\.$/, {
    en: 'The provider “{code}” has no settings yet.',
    fr: 'Le fournisseur « {code} » n’a pas encore de réglages.'
  }),
  reported(/^The provider "(?<code>[^"]*)" has no test environment, or its configuration does not reach it\.$/, {
    en: 'The provider “{code}” has no test environment, or its settings do not lead to it.',
    fr: 'Le fournisseur « {code} » n’a pas d’environnement de test, ou ses réglages n’y mènent pas.'
  })
]

/** What types are called: `integer`, `true or false`. */
const types: Readonly<Record<string, Text>> = {
  integer: { en: 'a whole number', fr: 'un nombre entier' },
  number: { en: 'a number', fr: 'un nombre' },
  string: { en: 'a text', fr: 'un texte' },
  array: { en: 'a list', fr: 'une liste' },
  object: { en: 'several fields', fr: 'plusieurs champs' },
  true: { en: 'yes', fr: 'oui' },
  false: { en: 'no', fr: 'non' }
}

function typeSaid (words: Words, { types: given = '' }: Groups): string | undefined {
  const names = given.split(' or ').filter((name) => name !== 'null').map((name) => types[name])
  if (names.length === 0 || names.includes(undefined)) return undefined
  const what = names.map((name) => name === undefined ? '' : textIn(words, name)).join(words.code === 'fr' ? ' ou ' : ' or ')
  return fill(textIn(words, { en: 'This must be {what}.', fr: 'Il faut {what}.' }), { what })
}

function choiceSaid (words: Words, { values = '', near }: Groups): string {
  const listed = fill(textIn(words, { en: 'Choose one of: {values}.', fr: 'Choisissez parmi : {values}.' }), {
    values: values.replaceAll('"', '')
  })
  return near === undefined
    ? listed
    : `${listed} ${fill(textIn(words, { en: 'Did you mean “{near}”?', fr: 'Vouliez-vous dire « {near} » ?' }), { near })}`
}

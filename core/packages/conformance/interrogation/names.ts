/*
 * Names of fields at vendors. A value that reaches a vendor only under the name of another field has been mixed up with it.
 */

/** The words by which vendors call fields that are mixed up with each other, by group. */
const groups: readonly Readonly<Record<string, RegExp>>[] = [
  {
    from: /\b(from|sender)\b/,
    // "recipients" may be all of them: some vendors have one list, and tell by another field who is shown to whom.
    to: /(?<!reply )\b(to|recipient)\b/,
    cc: /\bcc\b|\bcarbon\b/,
    bcc: /\bbcc\b|\bblind\b/,
    replyTo: /\breply\b/,
    subject: /\b(subject|title)\b/,
    html: /\bhtml\b/,
    text: /\b(text|plain)\b/
  },
  {
    firstName: /\b(first|given|forename)\b/,
    lastName: /\b(last|family|surname)\b/,
    email: /\be? ?mail\b/,
    phoneNumber: /\b(phone|mobile|sms)\b/
  },
  {
    x: /\bx\b|\b(left|horizontal)\b/,
    y: /\by\b|\b(top|bottom|vertical)\b/,
    width: /\bwidth\b/,
    height: /\bheight\b/,
    page: /\bpage\b/
  },
  { color: /\bcolou?r\b/, duplex: /\b(duplex|double|both)\b/ },
  { city: /\b(city|town|locality)\b/, postalCode: /\b(zip|postal|postcode)\b/, country: /\bcountry\b/, state: /\bstate\b/ },
  { quantity: /\b(quantity|qty)\b/, unitPrice: /\b(price|amount|rate|cost)\b/ },
  { date: /(?<!\bdue )\b(date|issued?|effective)\b/, dueDate: /\bdue\b/, number: /\bnumber\b/, reference: /\breference\b/ }
]

/** What a place is called at the vendor, in words: `request 1, JSON at /to/0/firstName` is `to first name`. */
function wordsOf (place: string): string {
  const named = place.replace(/^request \d+, /, '').replaceAll(
    /\b(JSON|XML|form field|part|query|header|path|file name|file|address) ?(at )?/g,
    ' '
  )
  return named.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[^A-Za-z]+/g, ' ').trim().toLowerCase()
}

/**
 * The field as which the vendor takes another one, whose changes show at these places alone; undefined where their names tell nothing.
 */
export function takenFor (field: string, paths: readonly string[]): string | undefined {
  const words = paths.map(wordsOf).filter((name) => name !== '')
  const group = groups.find((one) => Object.hasOwn(one, field))
  const own = group?.[field]
  if (group === undefined || own === undefined || words.length < paths.length || words.length === 0 ||
    words.some((name) => own.test(name)))
  {
    return undefined
  }
  return Object.entries(group).find(([other, pattern]) => other !== field && words.every((name) => pattern.test(name)))?.[0]
}

/** Whether whoever gets an e-mail reads what stands at a place: a copy, or a header with the recipients. */
export function isReadByAll (place: string): boolean {
  const words = wordsOf(place)
  return /\bcc\b|\bheaders? to\b/.test(words) && !/\b(bcc|blind)\b/.test(words)
}

/** Whether a place is named as the field itself. */
export function isNamed (field: string, place: string): boolean {
  const words = wordsOf(place)
  return words.replaceAll(' ', '').includes(field.toLowerCase()) || groups.some((group) => group[field]?.test(words) === true)
}

const yes = /^(true|1|yes|on|duplex|double(.sided)?|colou?r)$/i
const no = /^(false|0|no|off|simplex|single(.sided)?|gr[ae]y(.?scale)?|black|mono(chrome)?|bw|none)$/i
/** Places whose word means the contrary. */
const contrary = /\b(no|not|without|gr[ae]y|black|mono|simplex|single|disable[sd]?|exclude[sd]?)\b/

/** Whether a yes reaches the vendor as a no at a place. */
export function isOpposite (
  place: string,
  { yes: whenYes = '', no: whenNo = '' }: { yes: string | undefined, no: string | undefined }
): boolean {
  return !contrary.test(wordsOf(place)) && no.test(whenYes) && (yes.test(whenNo) || whenNo === '')
}

/** Whether a text names a word of a choice: `REGISTERED` in `registered_mail`, and `QUOTE` in `quotes`. */
export function names (text: string, word: string): boolean {
  return new RegExp(`\\b${RegExp.escape(plain(word))}s?\\b`).test(plain(text))
}

function plain (text: string): string {
  return text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll(/[^A-Za-z0-9]+/g, ' ').trim().toLowerCase()
}

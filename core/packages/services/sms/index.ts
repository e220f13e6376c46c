import { CountryCode, normalForm, type Problem, textOf } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { checkMax, checkOffered } from '../limits.ts'
import { checkLink, isLinked, withLink } from '../link.ts'
import { areOneNumber, checkPhoneNumber, checkTakesTexts, dialled, e164, PhoneNumber } from '../phone.ts'
import type { CheckInput, Findings, ProvidedService, ProviderFacts, SharedFact } from '../service.ts'
import { console } from './console.ts'
import { delivery } from './delivery.ts'
import { hours } from './hours.ts'
import { outline } from './outline.ts'
import { measureText, transliterated } from './sms-text.ts'
import type { SmsText } from './text-size.ts'

/** The longest text, in characters: ten segments of 153. */
const longestMessage = 1530
/** From this number of segments on, a text gets a warning, because each segment is paid for. */
const manySegments = 5

/** The fields of the sms service. */
export const SmsFields = Type.Object({
  phoneNumber: PhoneNumber(),
  message: Type.Optional(
    Type.String({
      title: 'SmsMessage',
      pattern: '\\S',
      maxLength: longestMessage,
      description: 'a text that is not blank; by default the text of the template',
      examples: ['Hello Ada']
    })
  ),
  sender: Type.Optional(
    Type.String({
      title: 'SmsSender',
      pattern: '^[A-Za-z0-9]{1,11}$',
      not: { pattern: '^[0-9]+$' },
      description: '1 to 11 letters and digits, at least one letter',
      examples: ['ACME']
    })
  ),
  transliterate: Type.Optional(
    Type.Boolean({
      title: 'SmsTransliterate',
      description:
        'true: signs and letters that GSM-7 does not have are replaced by those that are near to them, such as ’ by \'. One of ' +
        'them more than doubles the segments of a text.'
    })
  )
}, { title: 'SmsFields', additionalProperties: false })
export type SmsFields = Static<typeof SmsFields>

/** What an sms provider declares. */
export const SmsCapabilities = Type.Object({
  countries: Type.Optional(
    Type.Array(CountryCode, { uniqueItems: true, description: 'The countries to which it sends; if left out, all.' })
  ),
  maxSegments: Type.Optional(Type.Integer({ minimum: 1 })),
  alphanumericSender: Type.Optional(Type.Boolean({ description: 'Whether a request may name its sender.' }))
}, { additionalProperties: false })
export type SmsCapabilities = Static<typeof SmsCapabilities>

/** What an sms provider is asked to dispatch. `encoding` and `segments`: how networks send the message. */
export type SmsDispatch = {
  sms: { phoneNumber: string, message: string, sender?: string } & Pick<SmsText, 'encoding' | 'segments'>
  metadata: Readonly<Record<string, string>>
}

/** A person to whom the text speaks, who is the one that gets it. */
const numberFact: SharedFact<SmsFields> = {
  field: '/phoneNumber',
  data: '/recipient/phoneNumber',
  differ ({ phoneNumber }, data) {
    const stated = textOf(data, '/recipient/phoneNumber')
    return stated !== undefined && !areOneNumber(stated, phoneNumber)
  },
  isRecipient: true
}

export const sms: ProvidedService<'sms', SmsFields, SmsCapabilities, 'text', SmsDispatch, typeof delivery> = {
  name: 'sms',
  summary: 'Sends a text message.',
  fields: SmsFields,
  topLevelFields: [],
  required: ['phoneNumber'],
  template: { unless: 'message', channel: 'message' },
  content: 'text',
  shared: [numberFact],
  tells: ({ phoneNumber }) => ({ recipient: { phoneNumber } }),
  stated: { phoneNumber: { place: '/recipient/phoneNumber' } },
  recipients: {
    in: ({ phoneNumber }) => [{ address: dialled(phoneNumber), field: 'phoneNumber' }],
    known: (text) => e164.test(text) ? dialled(text) : undefined
  },
  hours,
  chain: { consumes: 'link' },
  capabilities: SmsCapabilities,
  price: 0,
  console,
  delivery,
  outline,

  check (subject) {
    const { fields: { message, sender }, provider, at } = subject
    const number = checkNumber(subject)
    const text = message === undefined ? {} : checkText(message, subject)
    return {
      problems: [
        ...number.problems ?? [],
        ...provider === undefined
          ? []
          : checkOffered(provider, at('sender'), sender !== undefined, provider.capabilities.alphanumericSender,
            'send under a name of your own'),
        ...text.problems ?? []
      ],
      warnings: [...number.warnings ?? [], ...text.warnings ?? []]
    }
  },

  checkContent: (fields, { text = '' }, provider) => fields.message === undefined ? checkMessage(written(fields, text), provider) : [],

  message (fields, { text = fields.message }) {
    return text === undefined ? {} : { text: written(fields, text) }
  },

  measure (fields, { text = fields.message }) {
    // How long the link is shows only where there is one.
    return text === undefined || isLinked(fields) ? {} : { text: measureText(written(fields, text)) }
  },

  request (fields, { text = '', link, metadata }) {
    const { phoneNumber, message: own, sender } = fields
    const message = written(fields, own === undefined ? text : withLink(own, link))
    const { encoding, segments } = measureText(message)
    return {
      sms: { phoneNumber: dialled(phoneNumber), message, encoding, segments, ...(sender === undefined ? {} : { sender }) },
      metadata
    }
  },

  example: { sms: { phoneNumber: '+33612345678' } },

  facts: ({ phoneNumber }) => ({ recipient: dialled(phoneNumber) })
}

/** A text as it is sent. A letter and its accent are one character, which GSM-7 may have, where a client wrote them as two. */
function written ({ transliterate }: SmsFields, text: string): string {
  return transliterate === true ? transliterated(text) : normalForm(text)
}

/** Checks the client's own text, with sample links of the real length. */
function checkText (message: string, { fields, provider, at, link }: CheckInput<SmsFields, SmsCapabilities>): Findings {
  const path = at('message')
  const { problems = [], warnings = [] } = checkLink(message, path, link)
  const text = written(fields, withLink(message, link))
  const { length } = Array.from(text)
  if (length > longestMessage) {
    return {
      warnings,
      problems: [
        ...problems,
        { path, code: 'too_long', message: `With its links, the text has ${length} characters; at most ${longestMessage} are permitted.` }
      ]
    }
  }
  return {
    problems: [...problems, ...provider === undefined ? [] : checkSegments(text, provider, path)],
    warnings: [...warnings, ...checkLength(text, path)]
  }
}

/** Checks a text that was rendered from a template. */
export function checkMessage (text: string, provider: ProviderFacts<SmsCapabilities> | undefined): Problem[] {
  const path = '/template'
  if (text.trim() === '') return [{ path, code: 'too_short', message: 'The text that the template made is empty.' }]
  const { length } = Array.from(text)
  if (length > longestMessage) {
    return [{
      path,
      code: 'too_long',
      message: `The text from the template has ${length} characters; at most ${longestMessage} are permitted.`
    }]
  }
  return provider === undefined ? [] : checkSegments(text, provider, path)
}

function checkSegments (text: string, provider: ProviderFacts<SmsCapabilities>, path: string): Problem[] {
  return checkMax(provider, path, measureText(text).segments, provider.capabilities.maxSegments, 'segments')
}

function checkLength (text: string, path: string): Problem[] {
  const { encoding, units, segments, unicode } = measureText(text)
  return [
    ...segments < manySegments ? [] : [{
      path,
      code: 'many_segments',
      message: `The text is sent in ${segments} segments (${units} characters of ${encoding}), and each segment is charged.`
    }],
    ...unicode === undefined || unicode.segmentsWithout >= segments ? [] : [{
      path,
      code: 'unicode_text',
      message:
        `The character ${shown(unicode.character)} at ${unicode.position} is not in GSM-7: the text is sent in ${segments} segments ` +
        `of UCS-2, and would be in ${unicode.segmentsWithout} without such characters. "transliterate": true replaces those that have a ` +
        'near one.'
    }]
  ]
}

/** A character and its code, because many look like another or like nothing. */
function shown (character: string): string {
  return `"${character}" (U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')})`
}

/**
 * Countries whose networks carry no names as senders: the vendor refuses the message or puts a number in the place of the name. Source: AWS
 * End User Messaging, "Supported countries", the rows with "SMS Sender IDs: No" and another way to send (read in November 2026 for the
 * Americas, China and Oceania), and Twilio, "International support for Alphanumeric Sender ID" (2025) for the others.
 */
const withoutNames = new Set(['AR', 'AS', 'BR', 'CA', 'CL', 'CN', 'CO', 'CR', 'DO', 'EC', 'GT', 'GU', 'HU', 'KR', 'KY', 'MP', 'MX', 'MY',
  'NI', 'NZ', 'PA', 'PE', 'PR', 'PY', 'SV', 'TW', 'US', 'UY', 'VE', 'VI', 'ZA'])

function checkCarried (sender: string | undefined, number: { country?: string | undefined }, path: string): Problem[] {
  const { country } = number
  if (sender === undefined || country === undefined || !withoutNames.has(country)) return []
  return [{
    path,
    code: 'sender_not_carried',
    message: `Networks of ${country} carry no names as senders: the provider may refuse the message, or send it from a number.`
  }]
}

/** Checks that the number is possible, is known to be assigned, and belongs to a country that the provider sends to. */
function checkNumber ({ fields: { phoneNumber, sender }, provider, at }: CheckInput<SmsFields, SmsCapabilities>): Findings {
  const path = at('phoneNumber')
  const { number, ...found } = checkPhoneNumber(phoneNumber, path)
  if (number === undefined) return found
  const findings = {
    ...found,
    warnings: [
      ...found.warnings ?? [],
      ...checkTakesTexts(number, path).warnings ?? [],
      ...checkCarried(sender, number, at('sender'))
    ]
  }
  const countries = number.getPossibleCountries()
  const supported = provider?.capabilities.countries
  if (provider === undefined || supported === undefined || countries.some((country) => supported.includes(country))) return findings
  return {
    ...findings,
    problems: [{
      path,
      code: 'not_supported_by_provider',
      message: `The provider "${provider.code}" does not send to ${countries.join(', ') || `+${number.countryCallingCode}`}; it sends to ` +
        `${supported.join(', ')}.`
    }]
  }
}

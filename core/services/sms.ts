import type { Problem } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { CountryCode } from '../contract/common.ts'
import { checkMost, checkOffered } from './limits.ts'
import { checkLink, withLink } from './link.ts'
import { checkPhoneNumber, PhoneNumber } from './phone.ts'
import type { CheckInput, Findings, ProvidedService, ProviderFacts } from './service.ts'
import { countSmsSegments } from './sms-segments.ts'

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

/** What an sms provider is asked to dispatch. */
export type SmsDispatch = {
  sms: { phoneNumber: string, message: string, sender?: string }
  metadata: Readonly<Record<string, string>>
}

export const sms: ProvidedService<'sms', SmsFields, SmsCapabilities, 'text', SmsDispatch> = {
  name: 'sms',
  summary: 'Sends a text message.',
  fields: SmsFields,
  topLevelFields: [],
  required: ['phoneNumber'],
  template: { unless: 'message' },
  content: 'text',
  chain: { consumes: 'link' },
  capabilities: SmsCapabilities,
  price: 0,

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

  checkContent: ({ message }, { text }, provider) => message === undefined ? checkMessage(text ?? '', provider) : [],

  message: ({ message }, { text = message }) => text === undefined ? {} : { text },

  request: ({ phoneNumber, message, sender }, { text = '', link, metadata }) => ({
    sms: { phoneNumber, message: message === undefined ? text : withLink(message, link), ...(sender === undefined ? {} : { sender }) },
    metadata
  }),

  example: { sms: { phoneNumber: '+33612345678' } },

  facts: ({ phoneNumber }) => ({ recipient: phoneNumber })
}

/** Checks the client's own text, with sample links of the real length. */
function checkText (message: string, { provider, at, link }: CheckInput<SmsFields, SmsCapabilities>): Findings {
  const path = at('message')
  const { problems = [], warnings = [] } = checkLink(message, path, link)
  const text = withLink(message, link)
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
  return checkMost(provider, path, countSmsSegments(text).segments, provider.capabilities.maxSegments, 'segments')
}

function checkLength (text: string, path: string): Problem[] {
  const { encoding, characters, segments } = countSmsSegments(text)
  if (segments < manySegments) return []
  return [{
    path,
    code: 'many_segments',
    message: `The text is sent in ${segments} segments (${characters} characters of ${encoding}), and each segment is charged.`
  }]
}

/** Checks that the number is possible, is known to be assigned, and belongs to a country that the provider sends to. */
function checkNumber ({ fields: { phoneNumber }, provider, at }: CheckInput<SmsFields, SmsCapabilities>): Findings {
  const path = at('phoneNumber')
  const { number, ...findings } = checkPhoneNumber(phoneNumber, path)
  if (number === undefined) return findings
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

import { asciiMailbox, comparable, type DocumentHandle, EmailAddress, hasAsciiLocalPart, type JsonObject, Line, pointer, type Problem,
  readMailbox, spaced, textOf } from '@dispatch/common'
import { longestSubject, textOfHtml } from '@dispatch/documents'
import { type Static, Type } from 'typebox'
import type { Content, InlinePicture, StepContent } from '../content.ts'
import { Attachment, checkEnclosed, EnclosureLimits, placeOf } from '../enclosures.ts'
import { checkMax, checkOffered } from '../limits.ts'
import { checkLink, withLink } from '../link.ts'
import type { CheckInput, Findings, ProvidedService, ProviderFacts, SharedFact } from '../service.ts'
import { console } from './console.ts'
import { delivery } from './delivery.ts'
import { checkMailHeaders, MailHeaders, oneClickHeaders } from './mail-headers.ts'
import { outline } from './outline.ts'
import { addresseesOf, duplicatesIn, knownAddress, listOf, recipientsOf } from './recipients.ts'
import { isAllowedSender } from './senders.ts'

const maxRecipients = 50
const maxAttachments = 20
/** Characters. */
const longestBody = 1_000_000

/** One address, or up to 50. */
const Recipients = Type.Unsafe<string | string[]>({
  ...EmailAddress,
  title: 'Recipients',
  type: ['string', 'array'],
  format: 'mailbox-or-none',
  items: EmailAddress,
  maxItems: maxRecipients,
  examples: [['ada@example.com']]
})

/** One address, or up to ten: whoever answers, writes to all of them (RFC 5322, 3.6.2). */
const ReplyTo = Type.Unsafe<string | string[]>({
  ...EmailAddress,
  title: 'ReplyTo',
  type: ['string', 'array'],
  items: EmailAddress,
  minItems: 1,
  maxItems: 10,
  examples: ['ada@example.com']
})

/** The fields of the email service: in `email`, or at the top level where the e-mail is all there is. */
export const EmailFields = Type.Object({
  from: EmailAddress,
  to: Recipients,
  cc: Type.Optional(Recipients),
  bcc: Type.Optional(Recipients),
  replyTo: Type.Optional(ReplyTo),
  subject: Line(longestSubject, { title: 'EmailSubject', description: 'a text of one line, sent unchanged', examples: ['Your documents'] }),
  body: Type.Optional(
    Type.String({
      title: 'EmailBody',
      pattern: '\\S',
      maxLength: longestBody,
      description: 'HTML or plain text that is not blank, sent unchanged; instead of a template',
      examples: ['Hello Ada']
    })
  ),
  headers: Type.Optional(MailHeaders),
  unsubscribe: Type.Optional(
    Type.Boolean({
      title: 'EmailUnsubscribe',
      default: false,
      description: 'true: the mail program of the one recipient offers to unsubscribe by one click (RFC 8058).'
    })
  ),
  attachments: Type.Optional(
    Type.Array(Attachment, {
      title: 'EmailAttachments',
      'x-since': '1.1.0',
      minItems: 1,
      maxItems: maxAttachments,
      description: 'Files that go with the mail, after the generated document. Since version 1.1.0.'
    })
  ),
  attachGenerated: Type.Optional(
    Type.Boolean({ title: 'AttachGenerated', default: true, description: 'Whether the generated document is attached.' })
  )
}, { title: 'EmailFields', additionalProperties: false })
export type EmailFields = Static<typeof EmailFields>

/** Whether an e-mail carries the document of its chain. */
export function attaches ({ attachGenerated }: JsonObject): boolean {
  return attachGenerated !== false
}

/** What an email provider declares. The setting `allowedSenders` of a configuration says which senders are allowed. */
export const EmailCapabilities = Type.Object({
  maxSize: Type.Optional(Type.Integer({ minimum: 1, description: 'The largest whole message in bytes.' })),
  maxReplyTo: Type.Optional(
    Type.Integer({ minimum: 1, default: 1, description: 'How many addresses answers may go to. Of several, "replyTo" is a list.' })
  ),
  internationalAddresses: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether letters beyond ASCII may stand before the @ (RFC 6531).' })
  ),
  attachments: Type.Optional(
    Type.Unsafe<EnclosureLimits>({
      ...EnclosureLimits,
      description: 'Which files it takes beside the generated document; any unless given.'
    })
  ),
  inlinePictures: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether the HTML can show pictures that come with the mail, as cid: (RFC 2392).' })
  )
}, { additionalProperties: false })
export type EmailCapabilities = Static<typeof EmailCapabilities>

/**
 * What an email provider is asked to dispatch. Domains of addresses are in ASCII. No recipient occurs twice. There is `html` or `text`, or
 * both. The HTML shows the pictures in `inline`.
 */
export type EmailDispatch = {
  email: {
    from: string
    to: string[]
    cc: string[]
    bcc: string[]
    /** A list where there are several, which a provider gets only if it declares `maxReplyTo`. */
    replyTo?: string | string[]
    subject: string
    html?: string
    text?: string
    headers?: Readonly<Record<string, string>>
  }
  inline: readonly InlinePicture[]
  attachments: readonly DocumentHandle[]
  metadata: Readonly<Record<string, string>>
}

/** The subject, in any spacing; of one that the template makes, the fields say nothing. */
const subjectFact: SharedFact<EmailFields> = {
  field: '/subject',
  data: '/subject',
  differ ({ subject }: Partial<EmailFields>, data) {
    const stated = textOf(data, '/subject')
    return stated !== undefined && subject !== undefined && spaced(stated) !== spaced(subject)
  }
}

/** A person to whom the text speaks, who is one of those that get it. */
const addressFact: SharedFact<EmailFields> = {
  field: '/to',
  data: '/recipient/email',
  differ ({ to }, data) {
    const stated = textOf(data, '/recipient/email')
    return stated !== undefined && listOf(to).every((mailbox) => comparable(mailbox).toLowerCase() !== comparable(stated).toLowerCase())
  },
  isRecipient: true
}

/** Of several recipients none is the one to whom the text speaks. */
function addressTold ([first, ...others]: readonly string[]): JsonObject {
  return first === undefined || others.length > 0 ? {} : { recipient: { email: readMailbox(first)?.address ?? first } }
}

export const email: ProvidedService<'email', EmailFields, EmailCapabilities, 'message', EmailDispatch, typeof delivery> = {
  name: 'email',
  summary: 'Sends an e-mail.',
  fields: EmailFields,
  topLevelFields: [],
  topLevelFieldsAlone: Object.keys(EmailFields.properties),
  required: ['from', 'to', 'subject'],
  template: { unless: 'body', exclusive: true, channel: 'mail', takes: ['pages'], subject: 'subject' },
  content: 'message',
  shared: [subjectFact, addressFact],
  // The template may still have to make the subject.
  tells: ({ subject, to }: Partial<EmailFields>) => ({ ...(subject === undefined ? {} : { subject }), ...addressTold(listOf(to)) }),
  stated: { to: { place: '/recipient/email' }, subject: { place: '/subject' } },
  recipients: {
    in: addresseesOf,
    known: knownAddress,
    suppressedBy: { bounced: 'hard_bounce', complained: 'complaint' },
    unsubscribing: { field: 'unsubscribe', of: (fields) => fields.unsubscribe === true ? addresseesOf(fields)[0]?.address : undefined }
  },
  chain: { consumes: 'attachment', takes: attaches },
  encloses: ({ attachments = [] }) => attachments.map((attachment, index) => ({ field: 'attachments', index, ...attachment })),
  capabilities: EmailCapabilities,
  price: 0,
  console,
  delivery,
  outline,

  check (subject) {
    const body = checkBody(subject)
    return {
      expectations: [...checkSender(subject), ...checkRecipients(subject)],
      problems: [
        ...checkMailHeaders(subject.fields.headers, subject.at('headers')),
        ...checkUnsubscribe(subject),
        ...checkAddresses(subject),
        ...checkPictures(subject.provider, () => subject.template.showsPictures?.() ?? false),
        ...checkAttachments(subject),
        ...body.problems ?? []
      ],
      warnings: [...checkDuplicates(subject), ...checkSubject(subject), ...body.warnings ?? []]
    }
  },

  checkContent (fields, made, provider) {
    const content = contentOf(fields, made)
    return [
      ...checkPictures(provider, () => (content.inline ?? []).length > 0),
      ...provider === undefined ? [] : checkSize(content, provider, fields.body === undefined ? '/template' : '/email/body')
    ]
  },

  message: ({ body }, { html, text, inline = [] }) =>
    body === undefined
      ? {
        ...(html === undefined ? {} : { html }),
        ...(text === undefined ? {} : { text }),
        ...(inline.length === 0 ? {} : { pictures: inline.map(({ contentId, id }) => ({ contentId, id })) })
      }
      : bodyOf(body),

  request (fields, made) {
    const { from, replyTo, subject, headers } = fields
    const { attachments, inline = [], ...body } = contentOf(fields, made)
    const ownHeaders = made.unsubscribeUrl === undefined ? headers : { ...headers, ...oneClickHeaders(made.unsubscribeUrl) }
    const { to, cc, bcc } = recipientsOf(fields)
    const answersTo = listOf(replyTo).map(asciiMailbox)
    return {
      email: {
        from: asciiMailbox(from),
        to: to.map(asciiMailbox),
        cc: cc.map(asciiMailbox),
        bcc: bcc.map(asciiMailbox),
        ...(answersTo[0] === undefined ? {} : { replyTo: answersTo.length === 1 ? answersTo[0] : answersTo }),
        subject,
        ...body,
        ...(ownHeaders === undefined ? {} : { headers: ownHeaders })
      },
      inline,
      attachments,
      metadata: made.metadata
    }
  },

  example: { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Your documents' },

  facts ({ to }) {
    const [first] = listOf(to)
    return first === undefined ? {} : { recipient: first }
  }
}

type EmailSubject = CheckInput<EmailFields, EmailCapabilities>
type Message = Content['message']

function checkSender ({ fields: { from }, provider, at }: EmailSubject): Problem[] {
  if (provider?.settings === undefined || isAllowedSender(from, provider.settings['allowedSenders'])) return []
  return [{
    path: at('from'),
    code: 'sender_not_allowed',
    message: `The configuration of the provider "${provider.code}" does not permit the sender ${from}: see its setting "allowedSenders".`
  }]
}

function checkRecipients ({ fields: { to }, at }: EmailSubject): Problem[] {
  return listOf(to).length > 0
    ? []
    : [{ path: at('to'), code: 'no_recipient', message: 'There is no recipient: give at least one address.' }]
}

/** One message has one address at which its recipient unsubscribes, so that of several nobody would know who has. */
function checkUnsubscribe ({ fields, at }: EmailSubject): Problem[] {
  if (fields.unsubscribe !== true) return []
  const { to, cc, bcc } = recipientsOf(fields)
  const own = Object.keys(fields.headers ?? {}).find((name) => /^list-unsubscribe/i.test(name))
  return [
    ...to.length + cc.length + bcc.length <= 1 ? [] : [{
      path: at('unsubscribe'),
      code: 'one_recipient',
      message: 'Only a mail to one recipient can be unsubscribed from: send one to each.'
    }],
    ...own === undefined ? [] : [{
      path: pointer(at('headers'), own),
      code: 'contradiction',
      message: 'The field "unsubscribe" adds this header: leave out one of the two.'
    }]
  ]
}

/** Checks what the provider can do with the addresses. */
function checkAddresses ({ fields, provider, at }: EmailSubject): Problem[] {
  if (provider === undefined) return []
  const { maxReplyTo = 1, internationalAddresses = false } = provider.capabilities
  const beyond = internationalAddresses ? [] : addressFields.filter((field) => !listOf(fields[field]).every(hasAsciiLocalPart))
  return [
    ...checkMax(provider, at('replyTo'), listOf(fields.replyTo).length, maxReplyTo, 'addresses for answers'),
    ...beyond.flatMap((field) =>
      checkOffered(provider, at(field), true, false, 'send to or from addresses with letters beyond ASCII before the @')
    )
  ]
}

/** Checks the attachments: what is shown inside the mail is a picture, and the provider takes all of them. */
function checkAttachments ({ enclosed = [], provider, at }: EmailSubject): Problem[] {
  const shown = enclosed.filter(({ inline }) => inline !== undefined)
  const named = shown.map(({ inline }) => inline)
  return [
    ...shown.filter(({ document }) => !document.contentType.startsWith('image/')).map((one) => ({
      path: `${placeOf(one, at)}/inline`,
      code: 'no_picture',
      message: `Only a picture is shown inside a mail, and this is ${one.document.contentType}: leave it out.`
    })),
    ...shown.filter(({ inline }, index) => named.indexOf(inline) < index).map((one) => ({
      path: `${placeOf(one, at)}/inline`,
      code: 'duplicate',
      message: 'Another picture has this name.'
    })),
    ...provider === undefined ? [] : [
      ...checkEnclosed(enclosed, at, provider, provider.capabilities.attachments ?? {}),
      ...checkOffered(provider, at('attachments'), shown.length > 0, provider.capabilities.inlinePictures !== false,
        'show pictures inside a mail')
    ]
  ]
}

/** Checks that the provider can show the pictures of the template, where it has some. */
function checkPictures (provider: ProviderFacts<EmailCapabilities> | undefined, hasSome: () => boolean): Problem[] {
  if (provider?.capabilities.inlinePictures !== false || !hasSome()) return []
  return checkOffered(provider, '/template', true, false, 'send pictures inside a mail, and with these data the template shows some')
}

const addressFields = ['from', 'to', 'cc', 'bcc', 'replyTo'] as const

function checkDuplicates ({ fields, at }: EmailSubject): Problem[] {
  return duplicatesIn(fields).map(({ field, mailbox }) => ({
    path: at(field),
    code: 'duplicate_recipient',
    message: `${mailbox} is named twice and gets one copy.`
  }))
}

function checkSubject ({ fields: { subject }, at }: EmailSubject): Problem[] {
  return /\{\{|\{%/.test(subject)
    ? [{ path: at('subject'), code: 'static_subject', message: 'A subject is sent unchanged: the expression in it is not evaluated.' }]
    : []
}

/** The client's own body, with sample links of the real length. */
function checkBody ({ fields: { body }, at, provider, link, enclosed = [] }: EmailSubject): Findings {
  const attachments = enclosed.map(({ document }) => document)
  if (body === undefined) {
    // The rest of it is checked when it is made.
    return enclosed.length === 0 || provider === undefined ? {} : { problems: checkSize({ attachments }, provider, at('attachments')) }
  }
  const { problems = [], warnings = [] } = checkLink(body, at('body'), link)
  return {
    problems: [
      ...problems,
      ...provider === undefined ? [] : checkSize({ ...bodyOf(withLink(body, link)), attachments }, provider, at('body'))
    ],
    warnings
  }
}

/** Checks the size of the message, with pictures and attachments in base64, against the provider's limit. */
function checkSize (message: Message, provider: ProviderFacts<EmailCapabilities>, path: string): Problem[] {
  return checkMax(provider, path, messageSize(message), provider.capabilities.maxSize, 'bytes a message')
}

/** Bytes; base64 makes 4 of 3, and lines of 76 end with two more (RFC 2045, 6.8). */
export function messageSize ({ html = '', text = '', inline = [], attachments }: Message): number {
  const encoded = [...inline, ...attachments].map(({ size }) => Math.ceil(Math.ceil(size / 3) * 4 * 78 / 76))
  return encoded.reduce((sum, size) => sum + size, Buffer.byteLength(html) + Buffer.byteLength(text))
}

function contentOf ({ body }: EmailFields, { html, text, inline, attachments, link }: StepContent<'message'>): Message {
  return {
    ...body === undefined
      ? { ...(html === undefined ? {} : { html }), ...(text === undefined ? {} : { text }) }
      : bodyOf(withLink(body, link)),
    ...(inline === undefined ? {} : { inline }),
    attachments
  }
}

/**
 * A body is HTML when it has a closing tag, a void element or a doctype. A single `<name>` is text. HTML is sent together with a plain-text
 * version.
 */
function bodyOf (body: string): { html?: string, text: string } {
  return /<\/[a-z][a-z0-9]*\s*>|<(?:br|hr|img)\b[^<>]*>|<!doctype html/i.test(body)
    ? { html: body, text: textOfHtml(body) }
    : { text: body }
}

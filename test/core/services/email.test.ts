import fc from 'fast-check'
import t from 'tap'
import { email, type EmailFields, messageSize } from '../../../core/packages/services/email/index.ts'
import { isAllowedSender } from '../../../core/packages/services/email/senders.ts'
import { has } from '../../support/matching.ts'
import { judge, type Judgement, template, type World } from '../pipeline/support.ts'

const fields = { from: 'demo@example.com', to: ['ada@example.org'], subject: 'Hello' }
const judgeMail = (changes: object, world?: World): Judgement => judge('email', { template, email: { ...fields, ...changes } }, world)
const handle = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'a.pdf',
  contentType: 'application/pdf',
  size: 57,
  sha256: '0'.repeat(64)
}
const made = { html: '<p>Hi</p>', text: 'Hi', attachments: [], data: {}, metadata: {} }
const problems = (changes: object, world?: World): string[] => judgeMail(changes, world).problems

await t.test('the fields stand at the top level or inside, and must not say two things', (t) => {
  const all = { ...fields, cc: 'grace@example.org', bcc: [], replyTo: 'team@example.com', attachGenerated: false }
  has(t, judge('email', { template, ...all }).plan?.steps, [{ fields: all }])
  has(t, judge('email', { template, email: all }).plan?.steps, [{ fields: all }])
  has(t, judge('email', { template, ...all, email: { from: 'demo@example.com' } }).plan?.steps, [{ fields: all }])
  has(t, judge('email', { template, ...all, email: { from: 'other@example.com' } }), {
    word: 'validation_error',
    problems: ['/email/from contradiction']
  })
  has(t, judge('email', { template }), { word: 'validation_error', problems: ['/from required', '/to required'] })
  has(t, judge('email', { body: 'Hi' }).problems, ['/from required', '/to required', '/subject required'])
  has(t, judge('email', { template, from: fields.from, to: fields.to }).problems, ['/subject required'], 'the template has none either')
  t.same(judge('email', { template, ...fields, from: 'x' }).problems, ['/from format'])
  t.end()
})

await t.test('the body is a template or the field body, not both', (t) => {
  t.same(judge('email', { ...fields, body: 'Hello' }).problems, [])
  has(t, judge('email', fields), { word: 'validation_error', problems: ['/template required'] })
  has(t, judge('email', { template, ...fields, body: 'Hello' }), { word: 'validation_error', problems: ['/body contradiction'] })
  has(t, judge('email', { template, email: { ...fields, body: 'Hello' } }), {
    word: 'validation_error',
    problems: ['/email/body contradiction']
  })
  for (const body of ['', ' \n']) t.same(judge('email', { ...fields, body }).problems, ['/body pattern'])
  t.same(judge('email', { ...fields, body: 'a'.repeat(1_000_001) }).problems, ['/body too_long'])
  t.end()
})

await t.test('every address has the form of one', (t) => {
  for (const field of ['from', 'replyTo', 'to', 'cc', 'bcc']) {
    has(t, judgeMail({ [field]: 'ada' }), { word: 'validation_error', problems: [`/email/${field} format`] }, field)
  }
  for (const field of ['to', 'cc', 'bcc']) {
    t.same(problems({ [field]: ['ada@example.org', 'Ada <ada@example.com>'] }), [])
    t.same(problems({ [field]: 'Ada <ada@example.net>' }), [], 'one may stand alone')
    t.same(problems({ [field]: ['ada@example.org', 'ada'] }), [`/email/${field}/1 format`])
    t.same(problems({ [field]: ['ada@example.org, grace@example.org'] }), [`/email/${field}/0 format`])
    t.same(problems({ [field]: [''] }), [`/email/${field}/0 format`])
    t.same(problems({ [field]: { address: 'ada@example.org' } }), [`/email/${field} type`])
  }
  t.end()
})

await t.test('an empty list of recipients is an expectation that failed', (t) => {
  for (const to of [[], '']) has(t, judgeMail({ to }), { word: 'expectation_failed', problems: ['/email/to no_recipient'] })
  has(t, judge('email', { template, ...fields, to: [] }), { word: 'expectation_failed', problems: ['/to no_recipient'] })
  has(t, judgeMail({ to: [], cc: ['ada@example.org'] }), { word: 'expectation_failed' }, 'a copy needs an original')
  t.end()
})

await t.test('a sender that the configuration does not allow is an expectation that failed', (t) => {
  const settings = { allowedSenders: ['demo@example.com', '@Example.org'] }
  for (const from of ['demo@example.com', 'Demo <demo@EXAMPLE.com>', 'anyone@example.org']) {
    t.same(problems({ from }, { settings }), [], from)
  }
  for (const from of ['Demo@example.com', 'other@example.com', 'a@mail.example.org', 'a@badexample.org', 'demo@example.com.evil.example']) {
    has(t, judgeMail({ from }, { settings }), { word: 'expectation_failed', problems: ['/email/from sender_not_allowed'] }, from)
  }
  has(t, judgeMail({}, { settings: {} }), { word: 'expectation_failed', problems: ['/email/from sender_not_allowed'] },
    'nobody is allowed unless told')
  t.end()
})

await t.test('a name before the address lets nobody send', (t) => {
  has(t, judgeMail({ from: '"demo@example.com" <evil@example.net>' }), { word: 'expectation_failed' })
  t.end()
})

await t.test('what is expected comes before what is wrong, and needs a configuration to be known', (t) => {
  has(t, judgeMail({ to: [] }, { schema: { type: 'object', required: ['number'] } }), {
    word: 'expectation_failed',
    problems: ['/email/to no_recipient']
  })
  has(t, judgeMail({}, { settings: null }), { word: 'configuration_missing' })
  has(t, judgeMail({ to: [] }, { settings: null }), { word: 'expectation_failed' })
  t.end()
})

await t.test('domains are allowed in every writing', (t) => {
  t.equal(isAllowedSender('ada@bücher.example', ['@xn--bcher-kva.example']), true)
  t.equal(isAllowedSender('ada@xn--bcher-kva.example', ['ada@BÜCHER.example']), true)
  t.equal(isAllowedSender('ada@example.com', ['example.com', 'ada@', 'ada@exa mple.com', '@', '@exa mple.com', '', 7]), false)
  t.equal(isAllowedSender('ada@example.com', '@example.com'), false)
  t.end()
})

await t.test('a list has at most 50 recipients', (t) => {
  const to = Array.from({ length: 51 }, (_, index) => `a${index}@example.org`)
  t.same(problems({ to: to.slice(1) }), [])
  t.same(problems({ to }), ['/email/to too_many'])
  t.end()
})

await t.test('nobody gets two copies: who is named twice is a warning', (t) => {
  const twice = { to: ['ada@example.org', 'Ada <ada@EXAMPLE.org>'], cc: ['grace@example.org', 'ada@example.org'], bcc: 'grace@example.org' }
  t.same(judgeMail(twice).warnings, ['/email/to duplicate_recipient', '/email/cc duplicate_recipient', '/email/bcc duplicate_recipient'])
  has(t, email.request({ ...fields, ...twice }, made).email, { to: ['ada@example.org'], cc: ['grace@example.org'], bcc: [] })
  t.end()
})

await t.test('a subject is one line, and no expression in it is evaluated', (t) => {
  t.same(problems({ subject: '' }), ['/email/subject too_short'])
  t.same(problems({ subject: 'a'.repeat(501) }), ['/email/subject too_long'])
  for (const subject of [' ', 'Hello\r\nBcc: x@example.com', 'Hello\n', 'Hello\rx', 'Hello\u2028x', 'a\tb']) {
    has(t, judgeMail({ subject }), { word: 'validation_error', problems: ['/email/subject pattern'] }, encodeURI(subject))
  }
  has(t, judgeMail({ subject: 'Invoice {{ number }}' }), { problems: [], warnings: ['/email/subject static_subject'] })
  t.equal(email.request({ ...fields, subject: 'Invoice {{ number }}' }, { ...made, data: { number: 7 } }).email.subject,
    'Invoice {{ number }}')
  t.end()
})

await t.test('no header that is sent has a line break in it, whatever the request says', (t) => {
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '"', '<', '>', '@', '.', 'ada@example.com', '\r', '\n', '\0', '\u2028', ',', ':'),
    maxLength: 12
  })
  fc.assert(fc.property(text, text, text, text, (from, to, replyTo, subject) => {
    const { plan } = judgeMail({ from, to: [to], replyTo, subject })
    const sent = plan?.steps.flatMap((step) => Object.values(email.request(step.fields as EmailFields, made).email).flat()) ?? []
    return sent.every((header) => typeof header === 'string' && !/[\p{Cc}\u2028\u2029]/u.test(header))
  }))
  fc.assert(
    fc.property(fc.constantFrom('from', 'to', 'cc', 'bcc', 'replyTo', 'subject'), fc.string(), fc.constantFrom('\r\n', '\r', '\n', '\0'),
      fc.string(), (field, before, control, after) =>
      judgeMail({ [field]: `${before}${control}${after}` }).word === 'validation_error' &&
      judgeMail({ [field]: `${before}${control}${after} <demo@example.com>` }).word === 'validation_error')
  )
  t.end()
})

await t.test('headers of the client\'s own are those that a mail may have, on one line, each once', (t) => {
  const unsubscribe = {
    'List-Unsubscribe': '<https://example.com/u/7>, <mailto:leave@example.com>',
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click'
  }
  const right = {
    'X-Campaign': 'Printemps é',
    'List-Id': 'News <news.example.com>',
    'Auto-Submitted': 'auto-generated',
    References: '<a@example.com>',
    'In-Reply-To': '<a@example.com>',
    ...unsubscribe
  }
  t.same(problems({ headers: right }), [])
  for (const name of ['List-Help', 'List-Subscribe', 'List-Post', 'List-Owner', 'List-Archive']) {
    t.same(problems({ headers: { [name]: '<https://example.com/list>' } }), [], name)
  }
  for (const name of ['Precedence', 'Importance', 'Organization', 'Feedback-ID']) {
    t.same(problems({ headers: { [name]: 'bulk' } }), [], name)
    t.same(problems({ headers: { [name.toUpperCase()]: 'bulk' } }), [], `${name} in capitals`)
  }
  has(t, judge('email', { body: 'Hi', ...fields, headers: right }).plan?.steps, [{ fields: { headers: right } }])
  t.same(email.request({ ...fields, headers: right }, made).email.headers, right)
  for (const name of ['From', 'to', 'Bcc', 'Subject', 'Date', 'Message-ID', 'Content-Type', 'MIME-Version', 'DKIM-Signature', 'Received',
    'Return-Path', 'X-Dispatch-Reference', 'x-dispatch-reference', 'X-', 'X-A B', 'X-A:', 'X-A\r\nBcc', ''])
  {
    has(t, judgeMail({ headers: { [name]: 'x' } }), { word: 'validation_error', problems: [/ key_/] }, encodeURI(name))
  }
  for (const value of ['a\r\nBcc: evil@example.com', 'a\nb', 'a\rb', 'a\0', 'a\u2028b', '', 'a'.repeat(901)]) {
    const { word, problems } = judgeMail({ headers: { 'X-A': value } })
    t.equal(word, 'validation_error', encodeURI(value.slice(0, 20)))
    t.same([...new Set(problems.map((problem) => problem.split(' ')[0]))], ['/email/headers/X-A'], encodeURI(value.slice(0, 20)))
  }
  t.same(problems({ headers: { 'X-A': '1', 'x-a': '2' } }), ['/email/headers/x-a duplicate'])
  t.same(problems({ headers: { References: '<é@example.com>' } }), ['/email/headers/References not_ascii'])
  t.same(problems({ headers: { 'List-Unsubscribe': 'https://example.com/u' } }), ['/email/headers/List-Unsubscribe not_addresses'])
  t.same(problems({ headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } }), [
    '/email/headers/List-Unsubscribe-Post no_address'
  ])
  t.same(problems({ headers: { ...unsubscribe, 'list-unsubscribe-post': 'yes' } }), ['/email/headers/list-unsubscribe-post const'])
  t.same(problems({ headers: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'x'])) }), [
    '/email/headers too_many'
  ])
  t.end()
})

await t.test('attachment settings are a boolean', (t) => {
  t.same(problems({ attachGenerated: false }), [])
  t.same(problems({ attachGenerated: 'no' }), ['/email/attachGenerated type'])
  t.end()
})

await t.test('the body is that of the template, or the field: HTML where it is HTML', (t) => {
  has(t, email.request(fields, made).email, { html: '<p>Hi</p>', text: 'Hi' })
  const bodyOf = (body: string): object => {
    const { html, text } = email.request({ ...fields, body }, { attachments: [], data: {}, metadata: {} }).email
    return { ...(html === undefined ? {} : { html }), ...(text === undefined ? {} : { text }) }
  }
  for (const [html, text] of [
    ['<p>Hello</p>', 'Hello'],
    ['Hello<br>Ada', 'Hello\nAda'],
    ['Hello<BR />Ada', 'Hello\nAda'],
    ['<!doctype html><title>x', ''],
    ['<img src="x" alt="Logo">', '[Logo]']
  ] as const) t.same(bodyOf(html), { html, text }, html)
  for (const text of ['Hello', 'Hello <ada@example.com>', 'Dear <name>', '1 < 2 and 3 > 2', 'a </ b']) t.same(bodyOf(text), { text }, text)
  t.end()
})

await t.test('the provider is asked with lists and nothing that was not given', (t) => {
  t.same(
    email.request({ ...fields, to: 'ada@example.org', attachGenerated: true }, {
      ...made,
      attachments: [handle],
      metadata: { orderId: '1' }
    }),
    {
      email: { from: 'demo@example.com', to: ['ada@example.org'], cc: [], bcc: [], subject: 'Hello', html: '<p>Hi</p>', text: 'Hi' },
      inline: [],
      attachments: [handle],
      metadata: { orderId: '1' }
    }
  )
  const picture = { ...handle, contentId: 'logo@picture' }
  t.same(email.request(fields, { ...made, inline: [picture], attachments: [] }).inline, [picture])
  t.equal(email.request({ ...fields, replyTo: 'team@example.com' }, made).email.replyTo, 'team@example.com')
  t.end()
})

await t.test('a message is not larger than the provider takes, its attachments in base64', (t) => {
  t.equal(messageSize({ html: 'é', text: 'a', attachments: [] }), 3)
  t.equal(messageSize({ attachments: [handle, handle] }), 2 * (76 + 2))
  t.equal(messageSize({ inline: [{ ...handle, contentId: 'logo@picture' }], attachments: [handle] }), 2 * (76 + 2))
  t.same(judge('email', { ...fields, body: 'é'.repeat(50) }, { capabilities: { maxSize: 100 } }).problems, [])
  has(t, judge('email', { ...fields, body: 'é'.repeat(51) }, { capabilities: { maxSize: 100 } }), {
    word: 'validation_failed',
    problems: ['/body not_supported_by_provider']
  })
  const acme = { code: 'acme', capabilities: { maxSize: 100 } }
  has(t, email.checkContent?.(fields, { ...made, attachments: [handle, handle] }, acme), [{
    path: '/template',
    message: 'The provider "acme" takes at most 100 bytes a message, and this has 167.'
  }])
  t.same(email.checkContent?.(fields, { ...made, attachments: [handle] }, acme), [])
  t.end()
})

await t.test('a dispatch is found by its first recipient', (t) => {
  t.same(email.facts({ ...fields, to: 'Ada <ada@example.org>' }, {}), { recipient: 'Ada <ada@example.org>' })
  t.same(email.facts({ ...fields, to: [] }, {}), {})
  t.end()
})

await t.test('several addresses for answers need a provider that takes them', (t) => {
  const replyTo = ['team@example.com', 'Ada <ada@bücher.example>']
  t.same(problems({ replyTo }), ['/email/replyTo not_supported_by_provider'])
  const able = { capabilities: { maxReplyTo: 2 } }
  t.same(problems({ replyTo }, able), [])
  t.same(problems({ replyTo: [...replyTo, 'x@example.com'] }, able), ['/email/replyTo not_supported_by_provider'])
  t.same(problems({ replyTo: [] }, able), ['/email/replyTo too_few'])
  t.same(email.request({ ...fields, replyTo }, made).email.replyTo, ['team@example.com', 'Ada <ada@xn--bcher-kva.example>'])
  t.equal(email.request({ ...fields, replyTo: ['team@example.com'] }, made).email.replyTo, 'team@example.com', 'a list of one is one')
  t.end()
})

await t.test('a provider gets domains in ASCII, and letters beyond it before the @ only if it takes them', (t) => {
  const mailbox = 'Zoë "Z" <zoe@bücher.example>'.replaceAll('"Z" ', '')
  const { email: requested } = email.request({ ...fields, from: mailbox, to: [mailbox], cc: ['a@bücher.example'], bcc: ['b@例え.jp'] },
    made)
  has(t, requested, {
    from: 'Zoë <zoe@xn--bcher-kva.example>',
    to: ['Zoë <zoe@xn--bcher-kva.example>'],
    cc: ['a@xn--bcher-kva.example'],
    bcc: ['b@xn--r8jz45g.jp']
  })
  t.same(problems({ to: ['zoë@example.com'] }), ['/email/to not_supported_by_provider'])
  t.same(problems({ to: ['zoë@example.com'] }, { capabilities: { internationalAddresses: true } }), [])
  t.same(problems({ to: ['zoe@bücher.example'] }), [])
  t.end()
})

await t.test('equal addresses in another case are one recipient', (t) => {
  t.same(judgeMail({ to: ['Ada@Example.org', 'ada@example.org'], cc: 'ADA@EXAMPLE.ORG' }).warnings, ['/email/to duplicate_recipient',
    '/email/cc duplicate_recipient'])
  has(t, email.request({ ...fields, to: ['Ada@Example.org', 'ada@example.org'] }, made), { email: { to: ['Ada@example.org'] } })
  t.end()
})

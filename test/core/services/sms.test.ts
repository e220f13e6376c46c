import t from 'tap'
import { checkMessage, sms } from '../../../core/packages/services/sms/index.ts'
import { contains, has } from '../../support/matching.ts'
import { judge, type Judgement, template, type World } from '../pipeline/support.ts'

const judgeSms = (fields: object, world?: World): Judgement =>
  judge('sms', { sms: { phoneNumber: '+33612345678', message: 'Hello', ...fields } }, world)
const problems = (fields: object, world?: World): string[] => judgeSms(fields, world).problems
const made = { data: {}, metadata: {} }

await t.test('the text is the message, or that of a template; one of them is there', (t) => {
  t.same(judge('sms', { sms: { phoneNumber: '+33612345678', message: 'Hello' } }).problems, [])
  t.same(judge('sms', { template, sms: { phoneNumber: '+33612345678' } }).problems, [])
  t.same(judge('sms', { template, sms: { phoneNumber: '+33612345678', message: 'Hello' } }).problems, [])
  const { word, details } = judge('sms', { sms: { phoneNumber: '+33612345678' } })
  t.equal(word, 'validation_error')
  t.same(details, [{ path: '/template', code: 'required', message: 'The field "template" is required, or "sms/message" instead.' }])
  for (const message of ['', ' \n']) t.same(problems({ message }), ['/sms/message pattern'])
  t.end()
})

await t.test('the message wins over the text of a template', (t) => {
  const phoneNumber = '+33612345678'
  t.same(sms.request({ phoneNumber, message: 'Mine', sender: 'ACME' }, { ...made, text: 'Made' }), {
    sms: { phoneNumber, message: 'Mine', encoding: 'GSM-7', segments: 1, sender: 'ACME' },
    metadata: {}
  })
  t.same(sms.request({ phoneNumber }, { ...made, text: 'Πρώτη' }), {
    sms: { phoneNumber, message: 'Πρώτη', encoding: 'UCS-2', segments: 1 },
    metadata: {}
  })
  t.end()
})

await t.test('a letter and its accent, written as two characters, are the one that GSM-7 has', (t) => {
  t.same(sms.request({ phoneNumber: '+33612345678', message: 'Le\u0301a' }, made).sms, {
    phoneNumber: '+33612345678',
    message: 'Léa',
    encoding: 'GSM-7',
    segments: 1
  })
  t.end()
})

await t.test('the number has the form of E.164', (t) => {
  for (const phoneNumber of ['0612345678', '+0612345678', '33612345678', '+33 6 12 34 56 78', '+1234567890123456', '+', '',
    '+33612345678\n', '+٣٣٦١٢٣٤٥٦٧٨'])
  {
    has(t, judgeSms({ phoneNumber }), { word: 'validation_error', problems: ['/sms/phoneNumber pattern'] }, JSON.stringify(phoneNumber))
  }
  has(t, judge('sms', { sms: { message: 'Hello' } }), { word: 'validation_error', problems: ['/sms/phoneNumber required'] })
  t.end()
})

await t.test('a number that no country has is refused', (t) => {
  for (const phoneNumber of ['+3361234567', '+336123456789', '+9991234567890', '+1234567']) {
    has(t, judgeSms({ phoneNumber }), { word: 'validation_failed', problems: ['/sms/phoneNumber impossible_number'] }, phoneNumber)
  }
  t.end()
})

await t.test('a number in no known range is a warning: numbering plans change', (t) => {
  has(t, judgeSms({ phoneNumber: '+33000000000' }), { problems: [], warnings: ['/sms/phoneNumber unassigned_number'] })
  for (const phoneNumber of ['+33612345678', '+447797712345', '+14165550123', '+15005550001', '+77011234567']) {
    has(t, judgeSms({ phoneNumber }), { problems: [], warnings: [] }, phoneNumber)
  }
  t.end()
})

await t.test('the number lies where the provider sends to', (t) => {
  const countries = ['FR', 'US', 'GB']
  for (const [phoneNumber, found] of [
    ['+33612345678', []],
    ['+4915123456789', ['/sms/phoneNumber not_supported_by_provider']],
    ['+12125550123', []],
    ['+14165550123', ['/sms/phoneNumber not_supported_by_provider']],
    ['+447400123456', []],
    ['+447797712345', ['/sms/phoneNumber not_supported_by_provider']],
    // Where a code is shared and the number tells no country, any of them may be meant.
    ['+15551234567', []],
    ['+80012345678', ['/sms/phoneNumber not_supported_by_provider']]
  ] as const) t.same(problems({ phoneNumber }, { capabilities: { countries } }), found, phoneNumber)
  contains(t, judgeSms({ phoneNumber: '+80012345678' }, { capabilities: { countries } }).details[0]?.message,
    'does not send to +800; it sends to FR, US, GB.')
  t.end()
})

await t.test('more than 1530 characters are refused', (t) => {
  t.same(problems({ message: 'a'.repeat(1530) }), [])
  has(t, judgeSms({ message: 'a'.repeat(1531) }), { word: 'validation_error', problems: ['/sms/message too_long'] })
  t.end()
})

await t.test('more segments than the provider takes are refused', (t) => {
  t.same(problems({ message: 'a'.repeat(306) }, { capabilities: { maxSegments: 2 } }), [])
  t.same(problems({ message: 'a'.repeat(307) }, { capabilities: { maxSegments: 2 } }), ['/sms/message not_supported_by_provider'])
  t.same(problems({ message: 'ё'.repeat(135) }, { capabilities: { maxSegments: 2 } }), ['/sms/message not_supported_by_provider'])
  t.end()
})

await t.test('more than four segments are a warning', (t) => {
  t.same(judgeSms({ message: 'a'.repeat(4 * 153) }).warnings, [])
  t.same(judgeSms({ message: 'a'.repeat(4 * 153 + 1) }).warnings, ['/sms/message many_segments'])
  t.end()
})

await t.test('a sender is 1 to 11 letters and digits with a letter among them', (t) => {
  const world = { capabilities: { alphanumericSender: true } }
  for (const sender of ['A', 'ACME', 'Acme2026abc', '1800Acme']) t.same(problems({ sender }, world), [], sender)
  for (const sender of ['', 'Acme2026abcd', '12345', '+33612345678', 'Ac me', 'Ac-me', 'Café', 'A\n']) {
    t.same(problems({ sender }, world), ['/sms/sender pattern'], sender)
  }
  t.end()
})

await t.test('a sender needs a provider that sends under one', (t) => {
  t.same(problems({ sender: 'ACME' }), ['/sms/sender not_supported_by_provider'])
  t.same(problems({ sender: 'ACME' }, { capabilities: { alphanumericSender: false } }), ['/sms/sender not_supported_by_provider'])
  t.end()
})

await t.test('the text of a template is checked once it is made', (t) => {
  const acme = { code: 'acme', capabilities: { maxSegments: 1 } }
  const codes = (text: string, provider?: typeof acme): string[] => checkMessage(text, provider).map(({ path, code }) => `${path} ${code}`)
  t.same(codes('Hello', acme), [])
  t.same(codes(' \n'), ['/template too_short'])
  t.same(codes('a'.repeat(1531)), ['/template too_long'])
  t.same(codes('😀'.repeat(1530)), [], 'counted in characters')
  t.same(codes('a'.repeat(161), acme), ['/template not_supported_by_provider'])
  t.same(sms.checkContent?.({ phoneNumber: '+33612345678' }, { ...made, text: 'a'.repeat(161) }, acme).length, 1)
  t.same(sms.checkContent?.({ phoneNumber: '+33612345678', message: 'Hello' }, { ...made }, acme), [])
  t.end()
})

await t.test('a dispatch is found by its number', (t) => {
  t.same(sms.facts({ phoneNumber: '+33612345678', message: 'Hello' }, {}), { recipient: '+33612345678' })
  t.end()
})

await t.test('the number that is judged is the one that is sent: without the zero of its country, and by the plan of today', (t) => {
  for (const [given, sent] of [
    ['+330612345678', '+33612345678'],
    ['+4407911123456', '+447911123456'],
    ['+49015112345678', '+4915112345678'],
    ['+410791234567', '+41791234567'],
    ['+5215512345678', '+525512345678'],
    ['+54111512345678', '+5491112345678'],
    ['+551187654321', '+5511987654321'],
    ['+22508123456', '+2250708123456'],
    ['+22997123456', '+2290197123456']
  ] as const) {
    has(t, judgeSms({ phoneNumber: given }), { problems: [], warnings: ['/sms/phoneNumber normalized_number'] }, given)
    t.equal(sms.request({ phoneNumber: given, message: 'Hi' }, made).sms.phoneNumber, sent)
    t.equal(sms.facts({ phoneNumber: given }, {}).recipient, sent)
  }
  for (const phoneNumber of ['+390612345678', '+393123456789', '+525512345678', '+2250707123456']) {
    t.equal(sms.request({ phoneNumber, message: 'Hi' }, made).sms.phoneNumber, phoneNumber, 'a zero of the number itself stays')
  }
  t.end()
})

await t.test('a number that can hardly get a text is a warning; where only a 9 is missing, it says so', (t) => {
  has(t, judgeSms({ phoneNumber: '+33123456789' }), { problems: [], warnings: ['/sms/phoneNumber no_mobile_number'] })
  has(t, judgeSms({ phoneNumber: '+541123456789' }).plan?.warnings, [{
    code: 'no_mobile_number',
    message: /is a landline.* write \+5491123456789\.$/
  }])
  has(t, judgeSms({ phoneNumber: '+12025550123' }), { warnings: [] }, 'where numbers do not tell, nothing is said')
  t.end()
})

await t.test('a name as a sender is a warning where networks carry none', (t) => {
  const world = { capabilities: { alphanumericSender: true } }
  for (const phoneNumber of ['+12025550123', '+14165550123', '+8613912345678']) {
    has(t, judgeSms({ phoneNumber, sender: 'ACME' }, world), { warnings: ['/sms/sender sender_not_carried'] }, phoneNumber)
  }
  has(t, judgeSms({ sender: 'ACME' }, world), { problems: [], warnings: [] })
  t.end()
})

await t.test('a character that costs segments is told, and can be replaced', (t) => {
  const message = `${'a'.repeat(149)}’`
  has(t, judgeSms({ message }).plan?.warnings, [{
    path: '/sms/message',
    code: 'unicode_text',
    message: /^The character "’" \(U\+2019\) at 150 .* 3 segments .* 1 without/
  }])
  has(t, judgeSms({ message, transliterate: true }), { problems: [], warnings: [] })
  const { sms: sent } = sms.request({ phoneNumber: '+33612345678', message, transliterate: true }, made)
  t.same(sent, { phoneNumber: '+33612345678', message: `${'a'.repeat(149)}'`, encoding: 'GSM-7', segments: 1 })
  has(t, judgeSms({ message: 'ça va' }), { warnings: [] }, 'one that costs nothing is not')
  t.end()
})

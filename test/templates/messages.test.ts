import t from 'tap'
import { compileJsonSchema } from '../../core/packages/common/schema.ts'
import { unreadFields } from '../../core/packages/documents/compile/field-usage.ts'
import { elementsOf } from '../../core/packages/documents/test/html-support.ts'
import { made, pagesOf, type Text } from '../../core/packages/documents/test/support.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { shipped, without } from './shipped.ts'

/** The least data that each schema takes. */
const least: Record<string, Record<string, unknown>> = {
  'email-invoice': { number: '1', date: '2026-03-14', seller: { name: 'Northwind' }, customer: { name: 'Ada' }, total: 3 },
  'email-reminder': { number: '1', dueDate: '2026-03-14', seller: { name: 'Northwind' }, customer: { name: 'Ada' }, amountDue: 3 },
  'email-account': { purpose: 'password', company: 'Northwind', email: 'ada@example.com', url: 'https://dispatch.example.com/' },
  'email-signature': { document: { title: 'Contract' }, sender: { name: 'Northwind' }, signer: { name: 'Ada' } },
  'sms-notice': { sender: 'Northwind', message: 'closed today.' },
  'sms-reminder': { sender: 'Northwind', number: '1', amount: 3, dueDate: '2026-03-14' },
  'sms-signature': { sender: 'Northwind', document: 'the contract' },
  'reminder-letter': {
    number: '1',
    date: '2026-03-14',
    seller: { name: 'Northwind' },
    customer: { name: 'Ada', address: 'Street 2', city: 'Cork' },
    invoices: [{ number: '7', dueDate: '2026-02-01', open: 3 }],
    total: 3
  },
  'postal-letter': {
    sender: { name: 'Northwind', address: 'Street 1', city: 'Dublin' },
    recipient: { name: 'Ada', address: 'Street 2', city: 'Cork' },
    date: '2026-03-14',
    subject: 'News',
    paragraphs: ['Hello.']
  },
  'service-contract': {
    number: '1',
    date: '2026-03-14',
    provider: { name: 'Northwind', address: 'Street 1', city: 'Dublin' },
    customer: { name: 'Ada', address: 'Street 2', city: 'Cork' },
    subject: 'Advice.',
    startDate: '2026-04-01',
    fee: { amount: 5 },
    governingLaw: 'Ireland'
  }
}

for (const [folder, data] of Object.entries(least)) {
  const { compiled, schema, source } = await shipped(folder)
  const fit = compileJsonSchema(schema)

  void t.test(`${folder}: what is optional leaves no hole`, async (t) => {
    has(t, fit(data), { ok: true })
    const texts = [(await made('html', compiled, data)).text, (await made('text', compiled, data)).text]
    for (const text of texts) lacks(t, text, /undefined|null|: *$|: *\n|\( *\)| ,| \.|\n\n\n/m)
    t.equal((await made('pdf', compiled, data)).pages, 1)
  })

  void t.test(`${folder}: an e-mail has a subject in each of its languages`, { skip: !folder.startsWith('email-') }, (t) => {
    const languages = Object.keys(source.texts ?? {})
    const subjects = languages.map((language) => compiled.subject?.({ ...data, language }) ?? '')
    for (const subject of subjects) contains(t, subject, /(Northwind|Contract|1)/)
    t.equal(new Set(subjects).size, 6, subjects.join())
    t.end()
  })

  void t.test(`${folder}: unknown fields pass the schema, missing ones do not`, (t) => {
    has(t, fit({ ...data, other: 1 }), { ok: true })
    for (const name of Object.keys(data)) has(t, fit(without(data, name)), { ok: false, problems: [{ path: `/${name}` }] }, name)
    t.end()
  })

  void t.test(`${folder}: every field of the schema is shown somewhere`, (t) => {
    const fields = Object.keys(schema['properties'] as object)
    t.same(unreadFields(compiled.uses, Object.fromEntries(fields.map((name) => [name, 'x']))), [])
    t.end()
  })

  void t.test(`${folder}: no text or list of the data is without bound`, (t) => {
    t.same(boundless(schema, ''), [])
    t.end()
  })
}

/** The places of a schema that take any amount of text or items. */
function boundless (schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const node = schema as Record<string, unknown>
  const bounded = node['type'] === 'string'
    ? 'maxLength' in node || 'format' in node || /\{\d+(,\d+)?\}/.test(String(node['pattern']))
    : node['type'] !== 'array' || 'maxItems' in node
  return [...(bounded ? [] : [at]), ...Object.entries(node).flatMap(([name, value]) => boundless(value, `${at}/${name}`))]
}

for (const folder of ['email-invoice', 'email-reminder', 'email-signature']) {
  void t.test(`${folder}: a logo stands in place of the name, and travels with the mail`, async (t) => {
    const { compiled, sample } = await shipped(folder)
    const { html, inline } = await made('html', compiled, {
      ...sample,
      logo: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC'
    })
    t.equal(inline.length, 1)
    has(t, elementsOf(html).find(({ tag }) => tag === 'img')?.attributes, {
      alt: 'Northwind Consulting Ltd',
      src: `cid:${inline[0]?.cid ?? ''}`
    })
  })
}

void t.test('email-reminder: the level chooses the tone', async (t) => {
  const { compiled, sample } = await shipped('email-reminder')
  const shown = await Promise.all([1, 2, 3, undefined].map(async (level) => {
    return await made('html', compiled, { ...without(sample, 'level'), ...(level === undefined ? {} : { level }) })
  }))
  contains(t, shown[0]?.text, /^You may have overlooked/m)
  contains(t, shown[1]?.text, /^We have already reminded/m)
  contains(t, shown[2]?.text, /^Despite our earlier reminders/m)
  contains(t, shown[2]?.html, /<title>Final reminder/)
  t.equal(shown[3]?.text, shown[0]?.text)
})

void t.test('email-signature: without a link the mail says that it comes', async (t) => {
  const { compiled, sample } = await shipped('email-signature')
  const { text } = await made('html', compiled, without(sample, 'signingUrl'))
  contains(t, text, /You will receive the link/)
  lacks(t, text, /meant for you alone/)
})

/** The characters of one message in the GSM alphabet (3GPP TS 23.038), of which the euro sign counts twice. */
const gsm = /^[\n\r !"#$%&'()*+,\-./0-9:;<=>?A-Za-z£¥èéùìòÇØøÅåÆæßÉÄÖÑÜ§¿äöñüà€]*$/

for (const folder of ['sms-notice', 'sms-reminder', 'sms-signature']) {
  void t.test(`${folder}: every sample is one message of the GSM alphabet, in any month`, async (t) => {
    const { compiled, samples } = await shipped(folder)
    for (const [name, data] of Object.entries(samples)) {
      const { text } = await made('text', compiled, {
        ...data,
        ...Object.fromEntries(
          Object.keys(data).filter((field) => /date|payBy|expiresAt/i.test(field)).map((field) => [field, '2026-08-31'])
        )
      })
      contains(t, text, gsm, `${name}: ${text}`)
      t.ok(text.replaceAll('€', '€€').length <= 160, `${name}: ${text}`)
    }
  })
}

/** Millimetres of a place on a page. */
function millimetres ({ x, y, right }: Text): { x: number, y: number, right: number } {
  return { x: x * 25.4 / 72, y: y * 25.4 / 72, right: right * 25.4 / 72 }
}

const windows = { left: [25, 100], right: [105, 190] } as const

for (const side of ['left', 'right'] as const) {
  void t.test(`postal-letter: the recipient stands in a window at the ${side}, and nothing else of the letter does`, async (t) => {
    const { compiled, sample } = await shipped('postal-letter')
    const [left, right] = windows[side]
    const recipient = {
      company: 'Aktiengesellschaft für Beispiele',
      name: 'Ada',
      address: 'Long Street 1',
      address2: 'Third floor',
      postalCode: '1',
      city: 'Cork',
      country: 'DE'
    }
    const [page = []] = await pagesOf(await made('pdf', compiled, { ...sample, window: side, recipient }))
    const lines = page.map((text) => ({ text: text.text, ...millimetres(text) }))
    const inside = lines.filter(({ x, y, right: end }) => y > 54 && y < 91 && end > left - 5 && x < right + 5)
    t.same(inside.map(({ text }) => text), [
      ...side === 'left' ? ['Northwind Consulting Ltd · 12 Harbour Street · Dublin D02 XY45'] : [],
      'Aktiengesellschaft für Beispiele',
      'Ada',
      'Long Street 1',
      'Third floor',
      '1 Cork',
      'GERMANY'
    ])
    for (const { text, x, y, right: end } of inside) t.ok(x >= left - 0.1 && end <= right && y >= 55 && y <= 90, text)
    t.equal(lines.find(({ y }) => y >= 91)?.text, 'Renewal of our service agreement')
  })
}

void t.test('postal-letter: a country at home is not printed, and short letters keep their place', async (t) => {
  const { compiled } = await shipped('postal-letter')
  const data = least['postal-letter'] ?? {}
  const { text } = await made('html', compiled, {
    ...data,
    sender: { ...data['sender'] as object, country: 'IE' },
    recipient: { ...data['recipient'] as object, country: 'IE' }
  })
  lacks(t, text, /IRELAND/)
  const [page = []] = await pagesOf(await made('pdf', compiled, data))
  t.ok(millimetres(page.find(({ text }) => text === '14 March 2026') ?? { text: '', x: 0, y: 0, right: 0 }).y > 50)
  t.ok(millimetres(page.find(({ text }) => text === 'News') ?? { text: '', x: 0, y: 0, right: 0 }).y > 95)
})

void t.test('postal-letter: a long letter goes on over pages, which are numbered', async (t) => {
  const { compiled, sample } = await shipped('postal-letter')
  const pages = await pagesOf(
    await made('pdf', compiled, {
      ...sample,
      paragraphs: Array.from({ length: 60 }, (_, index) => `Paragraph ${String(index)}. ${'word '.repeat(40)}`)
    })
  )
  t.ok(pages.length > 2)
  for (const [index, page] of pages.entries()) contains(t, page.at(-1)?.text, `Page ${String(index + 1)} of ${String(pages.length)}`)
})

void t.test('service-contract: both sign at the end, on one page, by their places in the list', async (t) => {
  const { compiled, sample } = await shipped('service-contract')
  const pdf = await made('pdf', compiled, sample, ['Niamh Byrne', 'Jürgen Müller'])
  has(t, pdf.signatures, [{ signer: 1 }, { signer: 2 }])
  t.equal(pdf.signatures[0]?.page, pdf.pages)
  t.equal(pdf.signatures[0]?.y, pdf.signatures[1]?.y)
  const last = (await pagesOf(pdf)).at(-1) ?? []
  for (const [index, name] of ['Niamh Byrne', 'Jürgen Müller'].entries()) {
    t.ok(Math.abs((last.find(({ text }) => text === name)?.x ?? 0) - (pdf.signatures[index]?.x ?? -1)) < 0.1, name)
  }
})

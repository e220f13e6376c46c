import { PDFDocument } from '@cantoo/pdf-lib'
import type { Json } from '@dispatch/common'
import { isServiceName, services } from '@dispatch/services'
import { sql } from 'kysely'
import t from 'tap'
import { policies } from '../../plugins/console/browser/policies.ts'
import type { FieldSchema } from '../../plugins/console/form/schema.ts'
import { fieldsOf, type Filled } from '../../plugins/console/form/settings.ts'
import { dataForm, fits } from '../../plugins/console/form/simple.ts'
import { fieldWords, languages, wordFor } from '../../plugins/console/language/language.ts'
import { datedToday } from '../../plugins/console/pages/sample-dates.ts'
import { followingForms, serviceForms } from '../../plugins/console/pages/send-forms.ts'
import { until } from '../core/work/support.ts'
import { contains, has, lacks, matches } from '../support/matching.ts'
import { invoiceRequest, startService } from '../support/service.ts'
import { formIn, openConsole, unescaped } from './support/console.ts'
import { letter } from './support/templates.ts'

const { en } = languages
const service = await startService(t)
const { send } = service
const { open, follow, post, signIn } = openConsole(service)
const cookie = await signIn()
const markup = '"><img src=x onerror=alert(1)>'

/** A letter whose schema has every kind of field. */
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string' },
    copies: { type: 'integer' },
    urgent: { type: 'boolean' },
    tone: { enum: ['formal', 'friendly'] },
    words: { type: 'array', items: { type: 'string' } },
    address: { $ref: '#/$defs/address' },
    lines: {
      type: 'array',
      items: { type: 'object', required: ['text'], properties: { text: { type: 'string' }, sum: { type: 'number' } } }
    },
    deep: { type: 'array', items: { type: 'array' } }
  },
  $defs: { address: { type: 'object', properties: { city: { type: 'string' } } } }
}
const sample = { name: 'Ada', lines: [{ text: 'Tea', sum: 6.25 }] }
const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ schema, sample }) })
await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 1 } })

type Fields = Record<string, string>

const letterForm = async (changes: Fields = {}): Promise<Fields> => ({
  ...formIn((await follow(`/send?template=${String(id)}`, cookie)).body),
  ...changes
})
const dispatches = async (): Promise<{ dispatchId: string }[]> => (await send('GET', '/api/v1/dispatches')).body.data
const curlIn = (page: string): string => unescaped(/<pre[^>]*>(curl [^]*?)<\/pre>/.exec(page)?.[1] ?? '')

await t.test('the fields of every service have their words in each language', async (t) => {
  const named = ({ properties = {}, items, 'x-words': name = '' }: FieldSchema): string[] =>
    [name, ...Object.values(properties).flatMap(named), ...items === undefined ? [] : named(items)].filter((word) => word !== '')
  for (const [of, form] of Object.entries({ ...serviceForms, ...followingForms })) {
    const names = named(form)
    t.ok(names.length >= Object.keys(form.properties ?? {}).length, of)
    for (const words of Object.values(languages)) for (const name of names) t.ok(fieldWords(words, name).title, `${of} ${name}`)
  }
  const page = (await follow('/send?template=1&service=postal', cookie, { 'accept-language': 'fr' })).body
  contains(t, page, />Type de lettre\b/)
  contains(t, page, '<option value="REGISTERED">Recommandée</option>')
  contains(t, page, fieldWords(languages.fr, 'state').description ?? '')
  lacks(t, page, /<label for="f-request\.[^"]*">(postalCode|mailType|color|duplex)\b/)
})

await t.test('the fields of each service are those of the API, and the required ones are there', (t) => {
  for (const [name, { properties = {}, required = [] }] of Object.entries(serviceForms)) {
    if (!isServiceName(name)) return t.fail(name)
    const { fields } = services[name]
    t.same(Object.keys(properties).filter((field) => !(field in fields.properties)), [], name)
    t.same([...required].sort(), [...'required' in fields ? fields.required : []].sort(), name)
  }
  t.end()
})

await t.test('the form of every shared template, sent as it begins, is a request that the service accepts', async (t) => {
  const { data } = (await send('GET', '/api/v1/templates?status=published&limit=100')).body
  const chosen = (await open('/send', cookie)).body
  for (const { id: template, name } of data) {
    contains(t, chosen, `<option value="${String(template)}">${name}`)
    const { status, headers, body } = await follow(`/send?template=${String(template)}`, cookie)
    t.equal(status, 200)
    t.equal(headers.get('content-security-policy'), policies.framing)
    t.ok(body.length < 100_000, `${name}: ${String(body.length)} characters`)
    const found = await post('/send/validate', { ...formIn(body), provider: '' }, cookie)
    t.equal(found.status, 200, `${name} ${/<div class="notice[^]*?<\/div>/.exec(found.body)?.[0] ?? ''}`)
    contains(t, found.body, en.sendValid)
    lacks(t, body, 'name="data.logo"', 'nobody types a picture: the brand has it')
  }
  contains(t, (await follow('/send?template=30', cookie)).body, /Not in this form, but possible as JSON: [^<]*Logo/)
})

await t.test('a form has a field for each simple part of the data, and lines that come and go', async (t) => {
  const fields = await letterForm()
  has(t, fields, {
    'data.name': 'Ada',
    'data.copies': '',
    'data.urgent': '',
    'data.tone': '',
    'data.words': '',
    'data.address.city': '',
    'data.lines.0.text': 'Tea',
    'data.lines.0.sum': '6.25',
    'data.deep': ''
  })
  const changes = { 'data.copies': '2', 'data.urgent': 'false', 'data.tone': 'formal', 'data.words': 'a\nb', 'data.address.city': 'Paris' }
  const longer = formIn((await post('/send', { ...fields, ...changes, ':add': 'data.lines' }, cookie)).body)
  has(t, longer, { ...changes, 'data.lines:rows': '2', 'data.lines.1.text': '' })
  const page = (await post('/send', { ...longer, 'data.lines.1.text': 'Milk', ':remove': 'data.lines.0' }, cookie)).body
  const shorter = formIn(page)
  has(t, shorter, { 'data.lines:rows': '1', 'data.lines.0.text': 'Milk', 'data.lines.0.sum': '' })
  t.same(JSON.parse(/-d '([^]*)'$/.exec(curlIn(page))?.[1] ?? ''), {
    template: {
      id,
      data: {
        name: 'Ada',
        copies: 2,
        urgent: false,
        tone: 'formal',
        words: ['a', 'b'],
        address: { city: 'Paris' },
        lines: [{ text: 'Milk' }]
      }
    }
  })
})

await t.test('what is wrong stands beside its field, and nothing typed is lost', async (t) => {
  const wrong = { 'data.name': '', 'data.copies': 'two', 'data.lines.0.text': '', 'data.address.city': markup }
  for (const action of ['validate', 'dispatch']) {
    const { status, body } = await post(`/send/${action}`, await letterForm(wrong), cookie)
    t.equal(status, 422, action)
    const marked = [...body.matchAll(/name="([^"]*)"[^>]*aria-invalid="true"/g)].map(([, name]) => name)
    t.same(marked.sort(), ['data.copies', 'data.lines.0.text', 'data.name'], action)
    has(t, formIn(body), { 'data.copies': 'two', 'data.address.city': markup })
    lacks(t, body, '<img')
  }
  t.same(await dispatches(), [])
})

await t.test('the data can be JSON instead, and come back to the form where they fit', async (t) => {
  const json = formIn((await post('/send', await letterForm({ 'data.name': 'Grace', ':show': 'json' }), cookie)).body)
  t.same(JSON.parse(json['json'] ?? ''), { name: 'Grace', lines: [{ text: 'Tea', sum: 6.25 }] })
  const more = { name: 'Grace', unknown: [1], lines: [] }
  const back = formIn((await post('/send', { ...json, json: JSON.stringify(more), ':show': 'form' }, cookie)).body)
  has(t, back, { 'data.name': 'Grace', ':rest': '{"unknown":[1]}' })
  has(t, await post('/send/validate', back, cookie), { status: 422 }, 'what the form does not show is sent too')
  const stays = (await post('/send', { ...json, json: '{ "address": 5 }', ':show': 'form' }, cookie)).body
  contains(t, stays, en.sendNoForm)
  t.same(JSON.parse(formIn(stays)['json'] ?? ''), { address: 5 })
  const unreadable = await post('/send/validate', { ...json, json: `{ ${markup}` }, cookie)
  t.equal(unreadable.status, 400)
  t.equal(formIn(unreadable.body)['json'], `{ ${markup}`)
  contains(t, unreadable.body, 'id="f-json-wrong"')
})

await t.test('while somebody types, the page says what the service would, and sends nothing', async (t) => {
  const check = async (changes: Fields): Promise<string> => {
    const { status, body } = await post('/send/check', await letterForm(changes), cookie)
    t.equal(status, 200)
    lacks(t, body, 'role="alert"')
    return body
  }
  const shown = (page: string): string | undefined => /<iframe[^>]* data-shows="(\w+)"/.exec(page)?.[1]
  const reported = (page: string): string => /<div class="told" role="status">([^]*?)<p class="quiet">/.exec(page)?.[1] ?? ''
  const [right, wrong] = [await check({}), await check({ 'data.name': '', 'data.copies': markup, ':once': 'the-same' })]
  contains(t, reported(right), en.sendValid)
  contains(t, reported(wrong), en.sendNotYet)
  contains(t, reported(wrong), '/template/data/copies')
  lacks(t, wrong, '<img')
  contains(t, wrong, /name="data\.name"[^>]*aria-invalid="true"/)
  t.equal(formIn(wrong)[':once'], 'the-same', 'a request in doubt stays the same')
  t.equal(shown(wrong), undefined, 'what is wrong has no document')
  t.equal(shown(right), shown(await check({ ':metadata': 'a=b' })), 'another recipient, the same document')
  t.not(shown(right), shown(await check({ 'data.name': 'Grace' })))
  t.same(await dispatches(), [])
})

await t.test('the document is shown in the frame of the page', async (t) => {
  contains(t, (await follow(`/send?template=${String(id)}`, cookie)).body, '<iframe name="document" src="/console/send/preview"')
  has(t, await open('/send/preview', cookie), { status: 200, body: en.sendPreviewNone }, 'before there is one')
  const made = await post('/send/preview', await letterForm(), cookie)
  t.same([made.status, made.headers.get('content-type'), made.headers.get('x-frame-options')], [200, 'application/pdf', 'SAMEORIGIN'])
  const refused = await post('/send/preview', await letterForm({ 'data.name': '' }), cookie)
  t.same([refused.status, refused.headers.get('content-type')], [422, 'text/plain; charset=utf-8'])
  t.same(await dispatches(), [])
})

await t.test('a form that is sent twice is one dispatch; the page of the dispatch follows', async (t) => {
  const fields = await letterForm({ 'data.name': 'Once' })
  const answers = [await post('/send/dispatch', fields, cookie), await post('/send/dispatch', fields, cookie)]
  const [only, ...others] = await dispatches()
  t.same(others, [])
  const page = `/console/dispatches/${String(only?.dispatchId)}`
  t.same(answers.map(({ status, headers }) => [status, headers.get('location')]), [[303, page], [303, page]])
  t.equal((await post('/send/dispatch', await letterForm({ 'data.name': 'Once' }), cookie)).status, 303)
  t.equal((await dispatches()).length, 2, 'another form is another dispatch')
})

await t.test('a sample is of today: what it says of other days stays as far from it', async (t) => {
  const today = Temporal.Now.plainDateISO('UTC')
  const dates = formIn((await follow('/send?template=4', cookie)).body)
  t.equal(dates['data.date'], today.toString())
  t.equal(dates['data.dueDate'], today.add({ days: 30 }).toString())
  t.same(datedToday({ from: '2026-02-28', list: [{ to: '2026-03-01' }], not: '2026-02-30', of: 'due 2026-01-01' }), {
    from: today.toString(),
    list: [{ to: today.add({ days: 1 }).toString() }],
    not: '2026-02-30',
    of: 'due 2026-01-01'
  })
  t.same(datedToday({ name: 'Ada' }), { name: 'Ada' })
  const sample = { date: '2026-02-28' }
  t.equal(datedToday(sample), datedToday(sample), 'a form that stands as it begins is known by it')
})

await t.test('what turns a text around is taken out of what is typed, and turns nothing on a page', async (t) => {
  const turned = '\u202eAda\u202c \u2067B\u2069'
  const form = await letterForm({ 'data.name': turned })
  const file = await post('/send/request', form, cookie)
  t.equal(JSON.parse(file.body as string).template.data.name, 'Ada B')
  const { body: { dispatchId } } = await send('POST', '/api/sms', { body: { sms: { phoneNumber: '+33612345678', message: turned } } })
  const page = (await open(`/dispatches/${String(dispatchId)}`, cookie)).body as string
  lacks(t, page, /[\u202a-\u202e\u2066-\u2069]/)
  contains(t, page, '<pre>Ada B</pre>')
  contains(t, page, '\\u202eAda\\u202c', 'the data as they are')
})

await t.test('what is still a sample is named beside the form, and is not sent for real; a new company begins with tests', async (t) => {
  const { admin } = await service.company('samples')
  const theirs = await signIn(admin)
  const settings = { accountSid: `AC${'1'.repeat(32)}`, authToken: 'a'.repeat(32), from: '+15005550100' }
  const tests = { testAccountSid: `AC${'2'.repeat(32)}`, testAuthToken: 'b'.repeat(32) }
  t.equal((await send('PUT', '/api/v1/company/providers/twilio', { body: { settings } }, admin)).status, 200)
  const firstOf = async (by: string): Promise<string | null> => (await open('/begin', by)).headers.get('location')
  t.same([await firstOf(theirs), await firstOf(cookie)], ['/console/test', '/console'], 'who has sent for real goes on so')
  const begun = (await follow('/send?template=20', theirs)).body
  const form = { ...formIn(begun), provider: 'twilio' }
  const refused = await post('/send/dispatch', form, theirs)
  t.equal(refused.status, 422)
  contains(t, refused.body, en.samplesRefused)
  contains(t, refused.body, /<li><a href="#f-request\.phoneNumber">[^<]+<\/a> \+33612345678<\/li>/)
  t.same((await send('GET', '/api/v1/dispatches', {}, admin)).body.data, [])
  const shown = (await post('/send/check', form, theirs)).body
  contains(t, shown, `<dt>${en.recipient}</dt><dd>+33612345678</dd>`)
  contains(t, shown,
    new RegExp(`Twilio <span class="quiet">${en.chosen_request}</span></td><td>\\d+ credits?</td><td><span class="badge warn">real<`))
  contains(t, shown, en.reviewSamples)
  contains(t, (await post('/test/send/check', form, theirs)).body, /id="f-provider-wrong">[^<]*no test environment/)
  await send('PUT', '/api/v1/company/providers/twilio', { body: { settings: { ...settings, ...tests } } }, admin)
  contains(t, (await post('/test/send/check', form, theirs)).body, '<td>0 credits</td><td><span class="badge calm">test<')
  t.equal((await post('/test/send/dispatch', { ...form, provider: 'simulator' }, theirs)).status, 303)
})

await t.test('the console of tests stays one: in its links, forms, redirects, lists and after the sign-in', async (t) => {
  const { admin } = await service.company('switch', { credits: 10 })
  const theirs = await signIn(admin)
  const at = (await open('/test/send?template=20&service=sms', theirs)).headers.get('location') ?? ''
  contains(t, at, /^\/console\/test\/send\?template=20.*draft=/)
  const { body } = await open(at.slice('/console'.length), theirs)
  const addresses = [...String(body).matchAll(/ (?:href|action|formaction|data-asks)="(\/console[^"]*)"/g)].map(([, path = '']) => path)
  t.same(addresses.filter((path) => !path.startsWith('/console/test')), [addresses[0], '/console/send', '/console/send/copy'],
    'but for the style, the switch and the button that makes it real')
  contains(t, addresses[0], /\.css$/)
  contains(t, body, `<a href="${at.replaceAll('&', '&amp;')}" title="${en.mode_test}" aria-current="true">${en.modeShort_test}</a>`)
  contains(t, body, `<title>Send: SMS notice · ${en.modeShort_test} · `)
  const form = { ...formIn(body), 'request.phoneNumber': '+33612345670', 'provider': 'simulator' }
  const sent = (await post('/test/send/dispatch', form, theirs)).headers.get('location') ?? ''
  contains(t, sent, /^\/console\/test\/dispatches\/[\w-]{36}$/)
  const id = sent.slice(-36)
  has(t, (await send('GET', `/api/v1/dispatches/${id}`, {}, admin)).body, { test: true })
  const page = (await open(sent.slice('/console'.length), theirs)).body
  contains(t, page, '<a href="/console/dispatches" title=', 'a test has no page among what is real')
  const real = (await post('/send/copy', form, theirs)).headers.get('location') ?? ''
  contains(t, real, /^\/console\/send\?template=20/)
  const again = formIn((await open(real.slice('/console'.length), theirs)).body)
  t.equal(again['request.phoneNumber'], '+33612345670', 'what was typed is there')
  const itself = (await post('/send/dispatch', again, theirs)).headers.get('location') ?? ''
  has(t, (await send('GET', itself.replace('/console', '/api/v1'), {}, admin)).body, { dispatchId: itself.slice(-36) })
  for (const list of ['/dispatches', '/find?q=%2B33612345670', '/drafts', '', '/dispatches.csv']) {
    const [live, test] = [(await open(list, theirs)).body, (await open(`/test${list}`, theirs)).body]
    t.same([live, test].map((text) => String(text).includes(id)), [false, list !== ''], `tests of ${list}`)
    if (list !== '') t.same([live, test].map((text) => String(text).includes(itself.slice(-36))), [true, false], `what is real of ${list}`)
  }
  contains(t, (await open('/find?q=%2B33612345670', theirs)).body, `<a href="${itself}">SMS</a>`, 'no id stands for what has no number')
  const counted = async (query: string): Promise<number> =>
    (await send('GET', `/api/v1/dispatches/statistics${query}`, { headers: { 'x-api-version': '1.1.0' } }, admin)).body.data
      .reduce((sum: number, { count }: { count: number }) => sum + count, 0)
  has(t, await send('GET', '/api/v1/dispatches/statistics?test=true', {}, admin), {
    status: 400,
    body: { details: [{ path: '/query/test', code: 'unknown_field' }] }
  }, 'before 1.1.0')
  t.same([await counted(''), await counted('?test=true'), await counted('?test=false')], [2, 1, 1])
  t.equal((await open('/dispatches?test=true&status=failed', theirs)).headers.get('location'), '/console/test/dispatches?status=failed')
  t.equal((await open('/test/dispatches?test=false', theirs)).headers.get('location'), '/console/dispatches')
  const out = (await open('/test/usage', '')).headers.get('location')
  t.equal(out, '/console/test/sign-in?next=%2Fconsole%2Fusage')
  const back = await post('/test/sign-in', { ...admin, next: '/console/usage' })
  t.equal(back.headers.get('location'), '/console/test/usage')
  for (const path of ['/tester', '/test/test/dispatches', '/test/live']) t.equal((await open(path, theirs)).status, 404, path)
})

await t.test('a draft and a proposal are at home in one console: the other leads there, and changes and sends nothing', async (t) => {
  const { admin } = await service.company('homes', { credits: 10 })
  const theirs = await signIn(admin)
  const pathOf = ({ headers }: { headers: Headers }): string => headers.get('location')?.slice('/console'.length) ?? ''
  const draftOf = async (path: string): Promise<unknown> =>
    (await send('GET', `/api/v1/drafts/${path.split('draft=')[1]!}`, {}, admin)).body.sandbox
  for (const [own, other] of [['', '/test'], ['/test', '']] as const) {
    const at = pathOf(await open(`${own}/send?template=4`, theirs))
    const form = formIn((await open(at, theirs)).body)
    t.equal((await post(`${own}/send/e-invoices`, { ...form, 'request.eInvoiceFormat': 'CII' }, theirs)).status, 200)
    for (const page of ['/send', '/send/e-invoices']) {
      const address = `${page}?template=4&draft=${form[':once']!}`
      t.equal(pathOf(await open(`${other}${address}`, theirs)), `${own}${address}`)
      contains(t, (await open(`${own}${address}`, theirs)).body, `<a href="/console${other}/send" title=`, 'the switch begins anew')
    }
    t.equal(await draftOf(at), own === '/test')
    const fields = { ...formIn((await follow(`${own}/send?template=1`, theirs)).body), 'data.number': `F-HOME${own}` }
    const sent = pathOf(await post(`${own}/send/dispatch`, { ...fields, provider: 'simulator' }, theirs))
    for (const action of ['duplicate', 'credit']) {
      const begun = pathOf(await post(`${sent}/${action}`, {}, theirs))
      contains(t, begun, `${own}/send?draft=`)
      t.equal(await draftOf(begun), own === '/test', `${action} of ${own}`)
    }
  }
  const request = { providerName: 'simulator', sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  const { body: { id } } = await send('POST', '/api/v1/proposals', { body: { service: 'sms', request } }, admin)
  const review = async (): Promise<{ status: string, review: { seen: string } }> =>
    (await send('GET', `/api/v1/proposals/${String(id)}`, {}, admin)).body
  const { review: { seen } } = await review()
  t.equal(pathOf(await open(`/test/proposals/${String(id)}`, theirs)), `/proposals/${String(id)}`)
  lacks(t, (await open('/test/proposals', theirs)).body, String(id))
  for (const action of ['send', 'decline']) {
    t.equal(pathOf(await post(`/test/proposals/${String(id)}/${action}`, { seen }, theirs)), `/proposals/${String(id)}`)
  }
  t.equal((await review()).status, 'open')
  matches(t, pathOf(await post(`/proposals/${String(id)}/send`, { seen }, theirs)), /^\/dispatches\/[\w-]{36}$/)
  const late = await post(`/proposals/${String(id)}/decline`, { ':confirmed': 'true' }, theirs)
  t.equal(late.status, 409)
  contains(t, late.body, 'The proposal is sent: nothing can be decided about it any more.')
  // What somebody else has to approve is real, too.
  const rules = '/api/v1/company/approval-rules'
  const { body: rule } = await send('POST', rules, { body: { name: 'Everything' } }, admin)
  const fields = { ...formIn((await follow('/send?template=1', theirs)).body), 'data.number': 'F-ASKED' }
  const requested = pathOf(await post('/send/dispatch', { ...fields, provider: 'simulator' }, theirs))
  matches(t, requested, /^\/approvals\/[\w-]{36}$/)
  for (const path of ['/approvals', '/approvals/rules', requested]) t.equal(pathOf(await open(`/test${path}`, theirs)), path)
  for (const action of ['approve', 'refuse', 'withdraw']) t.equal(pathOf(await post(`/test${requested}/${action}`, {}, theirs)), requested)
  t.equal(pathOf(await post(`/test/approvals/rules/${String(rule.id)}/remove`, {}, theirs)), '/approvals/rules')
  has(t, await send('GET', `/api/v1${requested}`, {}, admin), { body: { status: 'waiting' } })
  await send('DELETE', `${rules}/${String(rule.id)}`, {}, admin)
})

await t.test('a dispatch that the vendor refuses leads to its page; one in the test environment is a test', async (t) => {
  const sent = async (fields: Fields, mode = ''): Promise<unknown> => {
    const { status, headers } = await post(`${mode}/send/dispatch`, { ...fields, provider: 'simulator' }, cookie)
    t.equal(status, 303)
    return (await send('GET', (headers.get('location') ?? '').replace(`/console${mode}`, '/api/v1'))).body
  }
  const invoice = formIn((await follow('/send?template=1', cookie)).body)
  has(t, await sent({ ...invoice, 'request.reference': 'reject' }), {
    status: 'failed',
    steps: [{ service: 'invoicing', status: 'rejected' }]
  })
  const sms = formIn((await follow('/send?template=20', cookie)).body)
  has(t, await sent(sms, '/test'), { status: 'succeeded', steps: [{ service: 'sms', sandbox: true }] })
})

await t.test('the command for a shell holds no credentials, and no text ends its quotes', async (t) => {
  const { body } = await post('/send', await letterForm({ 'data.name': 'it\'s $(id)' }), cookie)
  const command = curlIn(body)
  contains(t, command, `curl '${service.url}/api/file'`)
  contains(t, command, '"Authorization: Bearer $DISPATCH_API_KEY"')
  contains(t, command, 'it\'\\\'\'s $(id)')
  lacks(t, command, cookie.slice(cookie.indexOf('=') + 1))
})

await t.test('a long request is a file that the code reads', async (t) => {
  const name = 'Ada '.repeat(2000).trim()
  const fields = await letterForm({ 'data.name': name })
  contains(t, curlIn((await post('/send', fields, cookie)).body), '-d @request.json')
  const file = await post('/send/request', fields, cookie)
  t.equal(file.headers.get('content-disposition'), 'attachment; filename="request.json"')
  t.same(JSON.parse(file.body as string), { template: { id, data: { ...sample, name } } })
})

await t.test('a chain has the fields of each of its services, and is one dispatch', async (t) => {
  const form = (await follow('/send?template=1&then1=email&then2=nothing', cookie)).body
  const fields = formIn(form)
  has(t, fields, { then: 'email', 'then.email.subject': 'Hello' })
  lacks(t, form, 'name="provider"')
  const wrong = await post('/send/validate', { ...fields, 'then.email.subject': '' }, cookie)
  t.equal(wrong.status, 400)
  contains(t, wrong.body, /name="then\.email\.subject"[^>]*aria-invalid="true"/)
  const { status, headers } = await post('/send/dispatch', fields, cookie)
  t.equal(status, 303)
  const { body } = await send('GET', (headers.get('location') ?? '').replace('/console', '/api/v1'))
  has(t, body, { status: 'succeeded', services: ['invoicing', 'email'] })
  const offered = (page: string): string[] => [...page.matchAll(/name=":then" value="(\w+)"/g)].map(([, name = '']) => name)
  t.same(offered(form), ['esign', 'postal', 'sms', 'upload'], 'what may follow an invoice and its e-mail')
  const longer = (await post('/send', { ...fields, ':then': 'upload' }, cookie)).body
  t.same([...longer.matchAll(/name="then" value="(\w+)"/g)].map(([, name]) => name), ['email', 'upload'])
  t.same(offered(longer), [], 'nothing follows an upload')
  t.equal((await post('/send/validate', { ...formIn(longer), then: 'upload' }, cookie)).status, 200)
  t.same(offered((await post('/send', { ...fields, ':without': 'email' }, cookie)).body), ['esign', 'postal', 'sms', 'email', 'upload'])
  const text = (await follow('/send?template=20&then1=email', cookie)).body
  t.same([offered(text), formIn(text)['then']], [[], undefined], 'a text message makes no document that something could follow')
})

await t.test('what may follow, and nobody can do, is marked', async (t) => {
  const { admin } = await service.company('followed')
  const theirs = await signIn(admin)
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, admin)
  await send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'simulator' } }, admin)
  const form = (await follow('/send?template=1', theirs)).body
  const named = [...form.matchAll(/name=":then" value="(\w+)">([^<]*)</g)].map(([, name, text = '']) => [name, unescaped(text)])
  has(t, Object.fromEntries(named), {
    sms: wordFor(en, 'service', 'sms'),
    email: `${wordFor(en, 'service', 'email')} (${en.notConfigured})`,
    upload: `${wordFor(en, 'service', 'upload')} (${en.notConfigured})`
  })
})

await t.test('a provider without settings is marked; its settings offer a test environment where the vendor has one', async (t) => {
  const { data } = (await send('GET', '/api/v1/providers?schemas=false')).body as { data: { code: string, sandbox?: string }[] }
  const sandboxOf = (code: string): string | undefined => data.find((one) => one.code === code)?.sandbox
  t.same(['simulator', 'stripe', 'smtp'].map(sandboxOf), ['flag', 'configuration', undefined])
  const form = (await follow('/send?template=1', cookie)).body
  contains(t, form, `<option value="qonto">Qonto (${en.notConfigured})</option>`)
  contains(t, form, '<option value="simulator">Simulator</option>')
  contains(t, (await open('/providers/stripe', cookie)).body, 'name=":sandbox"')
  lacks(t, (await open('/providers/smtp', cookie)).body, 'name=":sandbox"')
})

await t.test('metadata and the address of callbacks go with the request; what is wrong stands beside them', async (t) => {
  const more = { ':metadata': 'orderId = A-1001\nnote=a=b', ':callbackUrl': 'https://hooks.example.com/' }
  const { headers } = await post('/send/dispatch', await letterForm(more), cookie)
  const at = (headers.get('location') ?? '').replace('/console', '/api/v1')
  await until('the dispatch has ended', async () => (await send('GET', at)).body.status === 'succeeded')
  t.same((await send('GET', at)).body.metadata, { orderId: 'A-1001', note: 'a=b' })
  await until('its callback', async () => (await send('GET', `${at}/callbacks`)).body.data.length > 0)
  const wrong = await post('/send/validate', await letterForm({ ':metadata': `${markup}=1`, ':callbackUrl': 'nowhere' }), cookie)
  t.equal(wrong.status, 400)
  contains(t, wrong.body, /<details open>[^]*name=":callbackUrl"[^>]*aria-invalid="true"/)
  lacks(t, wrong.body, '<img')
})

await t.test(
  'a form can be sent later: its page tells when, moves it and sends it now; an hour that does not exist stands beside its field',
  async (t) => {
    const year = new Date().getUTCFullYear() + 1
    const wrong = await post('/send/validate', await letterForm({ ':sendAt': '2020-01-01T09:00' }), cookie)
    t.equal(wrong.status, 422)
    contains(t, wrong.body, /name=":sendAt"[^>]*aria-invalid="true"/)
    contains(t, wrong.body, 'X-API-Version: 1.1.0')
    const soon = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16)
    const { headers } = await post('/send/dispatch', await letterForm({ ':sendAt': soon }), cookie)
    const page = (headers.get('location') ?? '').replace('/console', '')
    const at = `/api/v1${page}`
    has(t, (await send('GET', at, { headers: { 'x-api-version': '1.1.0' } })).body, { status: 'queued', sendAt: `${soon}:00.000Z` })
    contains(t, (await open('/dispatches?scheduled=true', cookie)).body, `href="/console${page}"`)
    contains(t, (await open(page, cookie)).body, `action="/console${page}/schedule"`)
    const gone = await post(`${page}/schedule`, { ':sendAt': `${String(year - 3)}-01-01T09:00`, ':timeZone': 'Europe/Paris' }, cookie)
    t.equal(gone.status, 422)
    await send('PUT', `${at}/schedule`, { body: { sendAt: `${soon}Z`, notBefore: '00:00', notAfter: '23:59', timeZone: 'UTC' } })
    t.equal((await post(`${page}/schedule`, { ':sendAt': `${String(year)}-07-01T09:00`, ':timeZone': 'Europe/Paris' }, cookie)).status, 303)
    const summer = `${String(year)}-07-01T07:00:00`
    has(t, (await send('GET', at, { headers: { 'x-api-version': '1.1.0' } })).body, {
      sendAt: `${summer}.000Z`,
      schedule: { sendAt: `${summer}Z`, notBefore: '00:00', notAfter: '23:59', timeZone: 'UTC' }
    }, 'its hours stay')
    t.equal((await post(`${page}/schedule`, { ':sendAt': '', ':timeZone': '' }, cookie)).status, 422)
    has(t, (await send('GET', at)).body, { status: 'queued' }, 'no time is not now')
    t.equal((await post(`${page}/schedule`, { ':now': 'true' }, cookie)).status, 303)
    await until('it is sent now', async () => (await send('GET', at)).body.status === 'succeeded')
    lacks(t, (await open(page, cookie)).body, '/schedule"')
  }
)

await t.test('a mail carries what its form attaches, which the newest version takes: sent and corrected', async (t) => {
  const { body: { generatedDocument } } = await send('POST', '/api/invoicing', { body: invoiceRequest() })
  const { body: { data } } = await send('GET', '/api/v1/templates?limit=100')
  const { id: mail } = data.find(({ service }: { service: string }) => service === 'email')
  const form = {
    ...formIn((await follow(`/send?template=${String(mail)}`, cookie)).body),
    'request.to': 'reject@example.com',
    'request.attachments:rows': '1',
    'request.attachments.0.documentId': String(generatedDocument.id),
    'request.attachments.0.filename': 'Yours.pdf'
  }
  contains(t, curlIn((await post('/send', form, cookie)).body), '-H \'X-API-Version: 1.1.0\'')
  const at = (await post('/send/dispatch', form, cookie)).headers.get('location')?.slice('/console'.length) ?? ''
  const { body: { steps: [{ fields }] } } = await send('GET', `/api/v1${at}/request`)
  t.same(fields.attachments, [{ documentId: generatedDocument.id, filename: 'Yours.pdf' }])
  const correction = JSON.stringify({ email: { ...fields, to: ['ada@example.com'] } })
  t.equal((await post(`${at}/retry`, { correction }, cookie)).status, 303)
  await until('it is sent', async () => (await send('GET', `/api/v1${at}`)).body.status === 'succeeded')
})

await t.test('a document that is there already is sent in place of a template: an uploaded one, or that of another dispatch', async (t) => {
  const { body: { generatedDocument } } = await send('POST', '/api/invoicing', { body: invoiceRequest() })
  const pdf = await PDFDocument.create()
  pdf.addPage()
  const { body: { id: fileId } } = await send('POST', '/api/v1/files?filename=Own.pdf', {
    body: await pdf.save(),
    headers: { 'content-type': 'application/pdf' }
  })
  const note = await send('POST', '/api/v1/files?filename=Note.txt', { body: 'A note.', headers: { 'content-type': 'text/plain' } })
  t.equal(note.status, 201)
  const choice = (await open('/send', cookie)).body
  contains(t, choice, /<select id="f-given"[^]*?<option value="postal">/)
  lacks(t, /<select id="f-given"[^]*?<\/select>/.exec(choice)?.[0] ?? '', 'value="invoicing"')
  t.equal((await follow('/send?given=invoicing', cookie)).status, 200, 'what takes none leads to the choice')

  const at = (await open('/send?given=postal&then1=email', cookie)).headers.get('location')!.slice('/console'.length)
  const begun = await open(at, cookie)
  t.equal(begun.status, 200)
  contains(t, begun.body, `<option value="${fileId}">Own.pdf</option>`)
  for (const left of ['Note.txt', '<iframe', 'name="json"', '/send/preview']) lacks(t, begun.body, left)
  const empty = formIn(begun.body)
  has(t, empty, { ':template': '', 'document.fileId': '', 'document.documentId': '', then: 'email' })
  const refused = await post('/send/validate', empty, cookie)
  t.ok(refused.status >= 400 && refused.status < 500, String(refused.status))
  contains(t, refused.body, /<fieldset><legend>[^<]*<\/legend>.*?<p class="wrong">/s)
  const lost = await post('/send/validate', { ...empty, 'document.documentId': '00000000-0000-4000-8000-000000000000' }, cookie)
  t.equal(lost.status, 422)
  contains(t, lost.body, 'id="f-document.documentId-wrong"')
  t.equal((await post('/send/preview', empty, cookie)).status, 404)
  t.equal((await post('/send/e-invoices', empty, cookie)).status, 404)

  for (const [field, id, name] of [['fileId', fileId, 'Own.pdf'], ['documentId', generatedDocument.id, generatedDocument.id]] as const) {
    const filled: Fields = { ...empty, ':once': crypto.randomUUID(), [`document.${field}`]: id, 'request.recipient.name': 'Grace Hopper' }
    const shown = (await post('/send/check', filled, cookie)).body
    contains(t, shown, en.sendValid)
    contains(t, shown, `<dt>${en.document}</dt><dd>${name}</dd>`)
    contains(t, curlIn(shown), `"document": {\n    "${field}": "${id}"\n  }`)
    has(t, formIn((await follow(`/send?draft=${filled[':once']!}`, cookie)).body), { [`document.${field}`]: id, then: 'email' })
    const sent = await post('/send/dispatch', filled, cookie)
    const page = sent.headers.get('location')!.slice('/console'.length)
    has(t, (await send('GET', `/api/v1${page}`)).body, { status: 'succeeded', services: ['postal', 'email'], template: null })
    const anew = await post(`${page}/duplicate`, {}, cookie)
    const again = (await open(anew.headers.get('location')!.slice('/console'.length), cookie)).body
    has(t, formIn(again), { [`document.${field}`]: id, 'request.recipient.name': 'Grace Hopper', then: 'email' })
  }
})

await t.test('the choice of templates and of companies goes beyond the first hundred', async (t) => {
  const many = await service.company('many')
  const { owner } = service.app.get('database')
  const numbers = sql`generate_series(5001, 5101) as n`
  await sql`insert into templates (template_id, company_id, name, version, updated_at)
    select n, ${many.companyId}, 'Letter ' || n, 1, now() from ${numbers}`.execute(owner)
  await sql`insert into template_versions (template_id, version, company_id, digest, source, schema, sample, created_at, published_at)
    select n, 1, ${many.companyId}, digest, source, schema, sample, now(), now() from ${numbers},
      (select digest, source, schema, sample from template_versions where template_id = 20 limit 1) as one`.execute(owner)
  const as = await signIn(many.admin)
  const first = (await open('/send', as)).body as string
  const next = /href="\/console(\/send\?cursor=\d+)" rel="next"/.exec(first)?.[1] ?? ''
  const second = (await open(next, as)).body as string
  const names = [first, second].flatMap((page) => [...page.matchAll(/<option value="(\d+)">/g)].map(([, found]) => Number(found)))
  t.same(names.filter((found) => found > 5000).length, 101)
  lacks(t, second, 'rel="next"')
  const found = (await open('/send?q=letter+50', as)).body as string
  t.same([...found.matchAll(/<option value="\d+">Letter (\d+)/g)].map(([, name]) => name?.slice(0, 2)),
    Array.from({ length: 99 }, () => '50'))
  contains(t, found, /<input id="f-q"[^>]* value="letter 50"/)
  contains(t, (await open('/send?q=nowhere', as)).body, en.sendNotFound)
  contains(t, (await open('/send?q=relance', as, { 'accept-language': 'fr' })).body, '<option value="31">Lettre de relance (')
  lacks(t, (await open(`/send?q=${encodeURIComponent(markup)}`, as)).body, '<img')
})

await t.test('only from the console, only with templates of one\'s own, and only services that one may use', async (t) => {
  const fields = await letterForm()
  const others = await service.company('texting', { services: ['sms'] })
  const other = await signIn(others.member)
  t.equal((await follow(`/send?template=${String(id)}`, other)).status, 404)
  for (const path of ['/send', '/send/validate', '/send/check', '/send/request', '/send/preview', '/send/dispatch']) {
    t.equal((await post(path, fields, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403, path)
    t.equal((await post(path, fields, other)).status, 404, path)
  }
  const forbidden = await post('/send/dispatch', formIn((await follow('/send?template=1', other)).body), other)
  t.equal(forbidden.status, 403)
  contains(t, forbidden.body, en.sendRefused)
})

await t.test('a schema that a form cannot follow has none', (t) => {
  t.equal(dataForm({ type: 'object' }, {}), undefined)
  t.equal(dataForm({ type: 'object', properties: { 'a.b': { type: 'string' } } }, {}), undefined)
  const endless = { type: 'object', properties: { next: { $ref: '#' }, name: { type: 'string' } } }
  t.same(Object.keys(dataForm(endless, {})?.form.properties ?? {}), ['name', 'next'], 'what data usually have comes first')
  const names = Array.from({ length: 40 }, (_, n) => `n${String(n)}`)
  const many = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { $ref: '#' }])) }
  t.equal(dataForm(many, { n1: 'text' }), undefined, 'more fields than can be counted')
  const wide = { type: 'array', items: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) } }
  const { form } = dataForm({ type: 'object', properties: { wide } }, {}) ?? { form: {} }
  t.same([49, 50].map((length) => fits(form, { wide: Array.from({ length }, () => ({})) })), [true, false], 'a page that would be too long')
  const elsewhere = { type: 'object', properties: { total: { $ref: 'dispatch:invoice#/$defs/amount' }, period: { $ref: 'x' } } }
  const ordered = { type: 'object', required: ['second', 'first'], properties: { first: { type: 'string' }, second: { type: 'string' } } }
  t.same(Object.keys(dataForm(ordered, {})?.form.properties ?? {}), ['second', 'first'], 'the required ones as their list has them')
  t.same(dataForm(elsewhere, { total: '1.50' }), {
    form: { properties: { total: { type: 'string', 'x-data': 'total' } }, required: [] },
    leftOut: ['period']
  })
  t.end()
})

await t.test('a form has one number: sent again after Back it is the first dispatch; changed, it is a new one only if asked', async (t) => {
  const { headers } = await open('/send?template=20', cookie)
  const at = headers.get('location')!.slice('/console'.length)
  matches(t, at, /^\/send\?template=20&draft=[\w-]{36}$/)
  const typed = { ...formIn((await open(at, cookie)).body), 'request.phoneNumber': '+33612345678' }
  const sent = await post('/send/dispatch', typed, cookie)
  matches(t, sent.headers.get('location')!, /^\/console\/dispatches\/[\w-]{36}$/)
  const count = (await dispatches()).length
  const back = (await open(at, cookie)).body
  contains(t, back, en.sendWasSent)
  const again = formIn(back)
  t.equal(again['request.phoneNumber'], '+33612345678', 'what was typed')
  t.equal((await post('/send/dispatch', again, cookie)).headers.get('location'), sent.headers.get('location'))
  const changed = await post('/send/dispatch', { ...again, 'request.phoneNumber': '+33698765432' }, cookie)
  t.equal(changed.status, 422)
  contains(t, changed.body, en.sendWasSent)
  contains(t, changed.body, `href="${sent.headers.get('location')!}"`)
  t.equal((await dispatches()).length, count, 'nothing was sent twice')
  const anew = await post('/send/copy', formIn(changed.body), cookie)
  const other = formIn((await open(anew.headers.get('location')!.slice('/console'.length), cookie)).body)
  t.equal(other['request.phoneNumber'], '+33698765432')
  t.not((await post('/send/dispatch', other, cookie)).headers.get('location'), sent.headers.get('location'))
  t.equal((await dispatches()).length, count + 1)
})

await t.test('what was typed is there again: after F5, by the list of drafts, and after the session has ended', async (t) => {
  const at = (await open('/send?template=1&then1=email', cookie)).headers.get('location')!.slice('/console'.length)
  const typed: Fields = {
    ...formIn((await open(at, cookie)).body),
    'data.number': 'F-TYPED',
    'then.email.subject': 'Typed',
    ':metadata': 'order=17'
  }
  await post('/send/check', typed, cookie)
  for (const path of [at, `/send?draft=${typed[':once']!}`]) {
    const { body } = await open(path, cookie)
    has(t, formIn(body), { 'data.number': 'F-TYPED', 'then.email.subject': 'Typed', ':metadata': 'order=17' })
  }
  contains(t, (await open('/drafts', cookie)).body, `href="/console/send?draft=${typed[':once']!}"`)
  const ended = await post('/send/dispatch', typed, '')
  const next = new URL(ended.headers.get('location')!, service.url).searchParams.get('next') ?? ''
  contains(t, next, typed[':once']!)
  t.equal(formIn((await open(next.slice('/console'.length), cookie)).body)['data.number'], 'F-TYPED')
  const raw = await post('/send', { ...typed, ':show': 'json', ':written': 'json', json: '{ not yet' }, cookie)
  contains(t, raw.body, '{ not yet')
  t.equal(formIn((await open(at, cookie)).body)['json'], '{ not yet')
})

await t.test('a dispatch is written anew from its page: with its data and its fields, as another request', async (t) => {
  const typed = {
    ...formIn((await follow('/send?template=20', cookie)).body),
    'request.phoneNumber': '+33644444444',
    ':metadata': 'order=18'
  }
  const page = (await post('/send/dispatch', typed, cookie)).headers.get('location')!.slice('/console'.length)
  contains(t, (await open(page, cookie)).body, `action="/console${page}/duplicate"`)
  const anew = await post(`${page}/duplicate`, {}, cookie)
  const form = formIn((await open(anew.headers.get('location')!.slice('/console'.length), cookie)).body)
  has(t, form, { 'request.phoneNumber': '+33644444444', ':metadata': 'order=18' })
  const second = await post('/send/dispatch', form, cookie)
  matches(t, second.headers.get('location')!, /^\/console\/dispatches\/[\w-]{36}$/)
  t.not(second.headers.get('location'), `/console${page}`)
})

await t.test('an invoice is taken back from its page, and the profiles that it fits are shown before it is sent', async (t) => {
  const fields = formIn((await follow('/send?template=1', cookie)).body)
  const page = (await post('/send/dispatch', { ...fields, 'data.number': 'F-TAKEN-BACK' }, cookie)).headers.get('location')!.slice(
    '/console'.length
  )
  contains(t, (await open(page, cookie)).body, `action="/console${page}/credit"`)
  const begun = await post(`${page}/credit`, {}, cookie)
  const form = formIn((await open(begun.headers.get('location')!.slice('/console'.length), cookie)).body)
  has(t, form, { ':template': '3', 'request.documentType': 'CREDIT', 'request.from.dispatchId': page.split('/').at(-1)! })
  t.equal(form['data.number'], '')
  const sent = await post('/send/dispatch', { ...form, 'data.number': 'C-TAKEN-BACK', 'data.date': '2026-03-20' }, cookie)
  const credit = sent.headers.get('location')!.slice('/console'.length)
  lacks(t, (await open(credit, cookie)).body, `action="/console${credit}/credit"`)
  t.equal((await post(`${credit}/credit`, {}, cookie)).status, 422)

  const about = credit.split('/').at(-1)!
  const electronic = await follow('/send?template=4', cookie)
  contains(t, electronic.body, 'formaction="/console/send/e-invoices"')
  lacks(t, (await follow('/send?template=1', cookie)).body, 'formaction="/console/send/e-invoices"')
  const terms = { 'request.eInvoiceFormat': 'CII', 'request.paymentTerms': 'Within a fortnight', 'request.from.dispatchId': about }
  const requested = await post('/send/e-invoices', { ...formIn(electronic.body), 'data.paymentTerms': '', ...terms }, cookie)
  t.equal(requested.status, 200)
  const profiles = requested.body
  const [other] = /[^"]*&amp;profile=XRECHNUNG&amp;format=CII#profile/.exec(profiles) ?? []
  for (const shown of [profiles, (await open(other!.slice('/console'.length).replaceAll('&amp;', '&'), cookie)).body]) {
    const said = ['&amp;profile=XRECHNUNG&amp;format=UBL#profile', 'CrossIndustryInvoice', 'Within a fortnight', 'C-TAKEN-BACK']
    for (const one of said) contains(t, shown, one)
  }
  contains(t, profiles, '<h2 id="profile">EN 16931')
  t.equal((await post('/send/e-invoices', { ...formIn(electronic.body), ':written': 'json', json: '{ no' }, cookie)).status, 400)
  const unknown = '00000000-0000-4000-8000-000000000000'
  for (const [field, value] of [['data.currency', 'none'], ['request.from.dispatchId', unknown]] as const) {
    const refused = await post('/send/e-invoices', { ...formIn(electronic.body), ...terms, [field]: value }, cookie)
    t.ok(refused.status >= 400, String(refused.status))
    contains(t, refused.body, `id="f-${field}-wrong"`)
  }
  contains(t, (await open('/templates/4/e-invoices', cookie)).body, '?profile=PEPPOL&amp;format=UBL#profile')
})

await t.test('a draft that a colleague shares is written on as a copy', async (t) => {
  const colleague = { email: 'drafting@example.com', password: 'a long enough password' }
  await send('POST', '/api/v1/users', { body: { ...colleague, role: 'member', services: ['*'] } })
  const request = { template: { id: 20, data: {} }, sms: { phoneNumber: '+33622222222' } }
  const { body: { id: draft } } = await send('POST', '/api/v1/drafts', { body: { service: 'sms', request, shared: true } })
  const theirs = await signIn(colleague)
  const led = await open(`/send?draft=${draft}`, theirs)
  lacks(t, led.headers.get('location') ?? '', draft)
  has(t, formIn((await follow(`/send?draft=${draft}`, theirs)).body), { 'request.phoneNumber': '+33622222222' })
})

await t.test('line totals, taxes and totals follow from what is typed, unless somebody types them', async (t) => {
  const page = (await follow('/send?template=1', cookie)).body
  contains(t, page, `checked><label for="f-:computes">${en.sendComputes}</label>`)
  const sent: Fields = { ...formIn(page), ':computes': 'true', 'data.lines.0.quantity': '7' }
  const price = Number(sent['data.lines.0.unitPrice'])
  const { body } = await post('/send/check', sent, cookie)
  const computed = formIn(body)
  t.equal(computed['data.lines.0.total'], (7 * price).toFixed(2))
  const lines = Object.entries(computed).filter(([name]) => /^data\.lines\.\d+\.total$/.test(name)).map(([, total]) => Number(total))
  t.equal(computed['data.subtotal'], lines.reduce((sum, total) => sum + total, 0).toFixed(2))
  t.equal(computed['data.taxAmount'], (Number(computed['data.subtotal']) / 5).toFixed(2))
  t.equal(computed['data.total'], (Number(computed['data.subtotal']) + Number(computed['data.taxAmount'])).toFixed(2))
  matches(t, body, /name="data\.total"[^>]* readonly/)
  const byHand: Fields = { ...sent, ...computed, 'data.total': '1.00' }
  delete byHand[':computes']
  const typed = (await post('/send', byHand, cookie)).body
  t.equal(formIn(typed)['data.total'], '1.00')
  lacks(t, typed, /name="data\.total"[^>]* readonly/)
  contains(t, (await post('/send/validate', byHand, cookie)).body, en.sendRefused)
  lacks(t, (await follow(`/send?template=${String(id)}`, cookie)).body, ':computes', 'other data have none')
})

await t.test('what is rarely filled in, and the lines of a long list, are folded on a phone, unless something is to be seen there', (t) => {
  const line = { type: 'object', properties: { text: { type: 'string' }, sum: { type: 'number' } } } as const
  const form = {
    type: 'object',
    properties: {
      bank: { type: 'object', title: 'Bank', properties: { iban: { type: 'string' } } },
      lines: { type: 'array', items: line, 'x-rows': true }
    },
    required: ['lines']
  } as const
  const shown = (values: Record<string, Json>, problems: Filled['problems'] = [], name = 'data.'): string =>
    fieldsOf(en, form, { values, problems }, { name, path: '' }).markup
  const folds = (values: Record<string, Json>, problems: Filled['problems'] = [], name = 'data.'): string[] => {
    return [...shown(values, problems, name).matchAll(/<details class="fold part"><summary>(.*?)<\/summary>/g)].map(([, summary = '']) =>
      summary.replaceAll(/<[^>]*>/g, '')
    )
  }
  const bank = { iban: 'FR76' }
  const lines = ['a', 'b', 'c'].map((text) => ({ text }))
  t.same(folds({ lines }), ['Bank optional'])
  t.same(folds({ lines, bank }), [])
  t.same(folds({ lines }, [], ''), [], 'a form that is about a group has it open')
  const long = [...lines, { sum: 1 }, {}]
  t.same(folds({ lines: long, bank }), ['Line 1 a', 'Line 2 b', 'Line 3 c', 'Line 4 1'], 'an empty line is open')
  const wrong = ['/lines/1/text', '/bank/iban'].map((path) => ({ path, code: 'required', message: 'The field is required.' }))
  t.same(folds({ lines: long }, wrong), ['Line 1 a', 'Line 3 c', 'Line 4 1'])
  const parts = (values: Record<string, Json>): number => shown(values).split('<details class="fold part"').length - 1
  t.same([{ lines: long }, { lines: long, bank }].map(parts), [6, 6], 'what is filled in is in the same element')
  t.same(folds({ lines: [{ text: 'x'.repeat(90) }, ...lines], bank })[0], `Line 1 ${'x'.repeat(80)}`)
  t.end()
})

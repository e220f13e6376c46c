import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import t from 'tap'
import { words as ofSuppressions } from '../../core/packages/features/suppressions/words.en.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { failureNotice } from '../../plugins/console/pages/dispatch-failure.ts'
import { durationOf } from '../../plugins/console/pages/dispatch-timeline.ts'
import { until } from '../core/work/support.ts'
import { chainBody } from '../support/chains.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { admin, invoiceRequest, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'
import { letter } from './support/templates.ts'

const { en } = languages
const service = await startService(t, { config: { keepsRequestLog: true } })
const { app, send, url } = service
const { confirm, open, post, signIn } = openConsole(service)
const acme = await service.company('acme', { credits: 100 })
const other = await service.company('other')
const [cookie, theirs] = [await signIn(acme.admin), await signIn(other.admin)]
const { body: { name: invoiceTemplate } } = await send('GET', '/api/v1/templates/1')
const { body: invoice } = await send('POST', '/api/invoicing', { body: invoiceRequest() }, acme.admin)

/** The lines of a CSV file whose cells have no line breaks, behind its byte order mark. */
function linesIn (file: string): string[] {
  return file.replace(/^\uFEFF/, '').split('\r\n')
}

/** Uploads a file, and answers its dispatch. */
async function upload (name: string, type: string, content: string): Promise<any> {
  const form = new FormData()
  form.append('file', new File([content], name, { type }))
  const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
  return (await fetch(`${url}/api/upload`, { method: 'POST', body: form, headers: { authorization } })).json()
}

await t.test('the page of a dispatch tells why it has its provider, and whether settings have changed since', async (t) => {
  const at = `/dispatches/${String(invoice.dispatchId)}`
  const page = (await open(at, cookie)).body
  contains(t, page, `<summary>${en.choices}</summary>`)
  contains(t, page,
    `<th scope="row"><span title="simulator">Simulator</span></th><td>${en.choice_chosen}</td><td>The default of the company chose it.</td>`)
  contains(t, page, new RegExp(
    `<th scope="row"><span title="stripe">[^<]+</span></th><td>${en.choice_unusable}</td><td>[^<]*has no settings yet`
  ))
  lacks(t, page, en.choicesChanged)
  await send('PUT', '/api/v1/company/defaults/invoicing', { body: { providerName: 'simulator' } }, acme.admin)
  contains(t, (await open(at, cookie)).body, en.choicesChanged)
  t.equal((await send('GET', `/api/v1${at}/choices`, {}, other.admin)).status, 404)
})

await t.test('pages name services, documents and providers, and tell what has happened in words; codes are to hover over', async (t) => {
  const at = `/dispatches/${String(invoice.dispatchId)}`
  const page = (await open(at, cookie)).body
  contains(t, page, /<h1>Invoicing · [\w-]+<\/h1>/)
  contains(t, page, `<dt>${en.documentType}</dt><dd>Invoice</dd>`)
  contains(t, page, `<dt>${en.provider}</dt><dd><span title="simulator">Simulator</span>`)
  contains(t, page,
    new RegExp(`<span>${en.event_calling}</span> <span class="quiet">Invoicing · Provider: Simulator · Version: [\\d.]+</span>`))
  contains(t, page, new RegExp(`<span>${en.event_answered}</span> <span class="quiet">Invoicing · [^<]*Outcome: accepted`))
  contains(t, page, new RegExp(`<span>${en.event_planned}</span> <span class="quiet">Price: \\d+ credits?</span>`))
  const french = (await open(at, cookie, { 'accept-language': 'fr' })).body
  contains(t, french, '<span class="quiet">Facturation · Fournisseur\u00a0: Simulator · Version\u00a0: ')
  contains(t, (await open('/dispatches', cookie)).body, '<td class="beside-phone"><span title="simulator">Simulator</span></td>')
})

await t.test('a failed dispatch says why in words for people, and leads to the one thing that helps', async (t) => {
  const failed = async (body: object): Promise<{ at: string, page: string }> => {
    const answer = await send('POST', '/api/invoicing', { body }, acme.admin)
    const at = `/dispatches/${String(answer.body.dispatchId)}`
    return { at, page: (await open(at, cookie)).body }
  }
  const taken = invoiceRequest()
  await send('POST', '/api/invoicing', { body: taken }, acme.admin)
  const twice = await failed(taken)
  contains(t, twice.page, /<strong>Simulator has a document with the number F-[\d-]+ already\.<\/strong>/)
  contains(t, twice.page, `<a class="button second" href="#anew">${en.wayAnotherNumber}</a>`)
  contains(t, twice.page, /id="anew">[^]*?<input type="hidden" name="field" value="number">/)
  contains(t, twice.page, new RegExp(`<button>${en.wayAnotherNumber}</button>[^]*<button class="second">${en.retry}</button>`),
    'what helps stands first')
  await app.get('database').owner.updateTable('dispatches').set({ status: 'partial' })
    .where('dispatch_id', '=', twice.at.split('/').at(-1) ?? '').execute()
  const { body: partly } = await open(twice.at, cookie)
  lacks(t, partly, en.wayAnotherNumber, 'what is done of it is not sent again first')
  contains(t, partly, new RegExp(`<button>${en.retry}</button>[^]*<button class="second">${en.sendAnew}</button>`))
  const anew = await post(`${twice.at}/duplicate`, { field: 'number' }, cookie)
  contains(t, anew.headers.get('location'), /^\/console\/send\?draft=[\w-]+#f-data\.number$/)
  contains(t, (await post(`${twice.at}/duplicate`, { field: '"><b>' }, cookie)).headers.get('location'), /draft=[\w-]+$/)
  const refused = await failed(invoiceRequest({}, { invoicing: { reference: 'reject' } }))
  contains(t, refused.page, '<strong>Simulator refused it.</strong>')
  contains(t, refused.page, `<a class="button second" href="#correct-invoicing">${en.wayCorrect}</a>`)
  contains(t, refused.page, '<details id="correct-invoicing">')
  contains(t, (await open(refused.at, cookie, { 'accept-language': 'fr' })).body, '<strong>Simulator l’a refusé.</strong>')
})

await t.test('the way to what must change has the name of its button', (t) => {
  const said = (change: string | undefined, begun: boolean): string =>
    failureNotice({ words: en, isAdmin: true }, {
      step: {
        service: 'invoicing',
        providerName: 'stripe',
        error: { error: 'provider_error', message: 'Said.', details: [{ path: '/template/data/date', code: 'x', message: 'Wrong.' }] }
      },
      dispatch: {},
      providers: []
    }, { retriable: true, uncertain: false, duplicable: true, change, begun, correctable: [] }).markup
  contains(t, said('date', false), `href="#anew">${en.wayCorrect}</a>`)
  contains(t, said(undefined, false), `href="#anew">${en.sendAnew}</a>`)
  contains(t, said(undefined, true), `href="#retry">${en.retry}</a>`)
  t.end()
})

await t.test('credentials that are not accepted lead an admin to the settings, and a doubt to the vendor', (t) => {
  const said = (role: 'admin' | 'member', error: 'authentication_error' | 'outcome_unknown'): string =>
    failureNotice({ words: en, isAdmin: role === 'admin' }, {
      step: { service: 'invoicing', providerName: 'stripe', error: { error, message: 'Said.' } },
      dispatch: {},
      providers: []
    }, { retriable: true, uncertain: error === 'outcome_unknown', duplicable: true, correctable: [] }).markup
  contains(t, said('admin', 'authentication_error'), `href="/console/providers/stripe">${en.waySettings}</a>`)
  lacks(t, said('member', 'authentication_error'), 'href=')
  contains(t, said('admin', 'outcome_unknown'), `href="#resolve">${en.wayAsk}</a>`)
  t.end()
})

await t.test('the page of a dispatch has its template, its data and request, and the time between the lines of its timeline', async (t) => {
  const at = `/dispatches/${String(invoice.dispatchId)}`
  const page = (await open(at, cookie)).body
  contains(t, page, `<dt>${en.sendTemplate}</dt><dd><a href="/console/templates/1">${invoiceTemplate}, version 1</a></dd>`)
  contains(t, page, /<h2 id="request">Request<\/h2><details><summary>Data of the document<\/summary><pre>\{[^<]*&quot;number&quot;/)
  contains(t, page, /<\/svg> \+[\d.]+ (?:ms|s)<\/span>/)
  const spans = [[0, '0 ms'], [999, '999 ms'], [1_500, '1.5 s'], [12_345, '12 s'], [90_000, '1.5 min'], [7_200_000, '2 h'], [259_200_000,
    '3 days']] as const
  for (const [milliseconds, text] of spans) t.equal(durationOf(en, milliseconds), text)
  t.equal(durationOf(languages.fr, 1_500), '1,5 s')
})

await t.test('what was cancelled says so, and offers no second cancellation', async (t) => {
  const asDemo = await signIn(admin)
  const { body } = await send('POST', '/api/esign', { body: chainBody(['esign'], invoiceRequest()['template']) })
  const at = `/dispatches/${String(body.dispatchId)}`
  contains(t, (await open(at, asDemo)).body, en.cancelIntro)
  t.equal((await confirm(`${at}/cancel`, {}, asDemo)).status, 303)
  const page = (await open(at, asDemo)).body
  contains(t, page, new RegExp(`<dt>${en.cancellation}</dt><dd>${en.event_cancelled} <time`))
  lacks(t, page, en.cancelIntro)
})

await t.test('what no provider of a chain can take back is not offered to be cancelled, before and after the rest is', async (t) => {
  const asDemo = await signIn(admin)
  const { body } = await send('POST', '/api/invoicing/esign', { body: chainBody(['invoicing', 'esign'], invoiceRequest()['template']) })
  const at = `/dispatches/${String(body.dispatchId)}`
  contains(t, (await open(at, asDemo)).body, en.cancelIntro, 'the contract')
  t.equal((await confirm(`${at}/cancel`, {}, asDemo)).status, 303)
  lacks(t, (await open(at, asDemo)).body, en.cancelIntro, 'the invoice, by a provider without that verb')
})

await t.test('a document is shown in a frame of the page of its dispatch, and in no other', async (t) => {
  const at = `/dispatches/${String(invoice.dispatchId)}`
  const page = await open(at, cookie)
  const source = `${at}/documents/${String(invoice.generatedDocument.id)}`
  contains(t, page.body, `<iframe src="/console${source}" title="${en.previewOf.replace('{name}', invoice.generatedDocument.filename)}"`)
  contains(t, page.headers.get('content-security-policy'), 'frame-src \'self\'')
  const { status, headers, body } = await open(source, cookie)
  t.equal(status, 200)
  has(t, Object.fromEntries(headers), {
    'content-type': 'application/pdf',
    'content-disposition': /^inline; filename="Invoice-/,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store'
  })
  t.ok(body.startsWith('%PDF-'))
  contains(t, headers.get('content-security-policy'), 'default-src \'none\'')
  contains(t, headers.get('content-security-policy'), 'frame-ancestors \'self\'')
  t.equal((await open(source, theirs)).status, 404, 'not to another company')
  const { dispatchId } = (await send('POST', '/api/invoicing', { body: invoiceRequest() }, acme.admin)).body
  t.equal((await open(`/dispatches/${String(dispatchId)}/documents/${String(invoice.generatedDocument.id)}`, cookie)).status, 404,
    'not as that of another dispatch')
  t.equal((await open(source, '')).status, 303)
  lacks(t, (await open('/dispatches', cookie)).headers.get('content-security-policy'), 'frame-src')
})

await t.test('an e-mail is shown as its recipients see it, in a sandbox, with its text and its source; an SMS in the page', async (t) => {
  const asDemo = await signIn(admin)
  const markup = '<h1>Hello</h1><script>alert(1)</script><img src="https://tracker.example/x.png">'
  const email = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello', body: markup }
  const { body: { dispatchId } } = await send('POST', '/api/email', { body: email })
  const at = `/dispatches/${String(dispatchId)}`
  const page = await open(at, asDemo)
  contains(t, page.body, `<iframe src="/console${at}/messages/0"`)
  contains(t, page.headers.get('content-security-policy'), 'frame-src \'self\'')
  const shown = await open(`${at}/messages/0`, asDemo)
  t.equal(shown.body, markup)
  t.equal(shown.headers.get('content-type'), 'text/html; charset=utf-8')
  t.same(shown.headers.get('content-security-policy')?.split('; '), ['sandbox', 'default-src \'none\'', 'img-src data:',
    'style-src \'unsafe-inline\'', 'frame-ancestors \'self\''])
  const [text, source] = [await open(`${at}/messages/0?as=text`, asDemo), await open(`${at}/messages/0?as=source`, asDemo)]
  for (const { headers } of [text, source]) t.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
  t.equal(source.body, markup)
  lacks(t, text.body, '<')
  for (const path of ['messages/1', 'messages/x', 'messages/0?as=other']) t.equal((await open(`${at}/${path}`, asDemo)).status, 404, path)
  t.equal((await open(`${at}/messages/0`, theirs)).status, 404, 'not to another company')
  t.equal((await open(`${at}/messages/0`, '')).status, 303)
  const { body: sms } = await send('POST', '/api/sms', { body: { sms: { phoneNumber: '+33612345678', message: 'At <b>8</b> pm' } } })
  const short = await open(`/dispatches/${String(sms.dispatchId)}`, asDemo)
  contains(t, short.body, '<pre>At &lt;b&gt;8&lt;/b&gt; pm</pre>')
  lacks(t, short.body, '<iframe')
  lacks(t, short.body, en.cancelIntro, 'what nobody can take back')
})

await t.test('the pictures of an e-mail are in what is shown', async (t) => {
  const asDemo = await signIn(admin)
  const image = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  t.equal((await send('POST', '/api/v1/assets', { body: { name: 'dot', image } })).status, 201)
  const source = `name: Hi
service: email
locale: en
body: [{ image: { asset: logo, width: 20, alt: Logo } }, { paragraph: "Dear {{ name }}" }]
assets: { logo: "asset:dot" }
`
  const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ source }) })
  await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 1 } })
  const email = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello' }
  const { body } = await send('POST', '/api/email', { body: { email, template: { id, data: { name: 'Ada' } } } })
  const { body: asked } = await send('GET', `/api/v1/dispatches/${String(body.dispatchId)}/request`)
  const { html, text, pictures: [picture] } = asked.steps[0].message
  contains(t, html, `cid:${String(picture.contentId)}`)
  contains(t, text, 'Dear Ada')
  const shown = await open(`/dispatches/${String(body.dispatchId)}/messages/0`, asDemo)
  contains(t, shown.body, 'src="data:image/png;base64,')
  lacks(t, shown.body, 'cid:')
})

/** A PNG that nothing makes smaller: three random bytes for each of its points. */
function noise (side: number): string {
  const chunk = (type: string, data: Buffer): Buffer => {
    const [size, sum, body] = [Buffer.alloc(4), Buffer.alloc(4), Buffer.concat([Buffer.from(type), data])]
    size.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([size, body, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(side, 0)
  head.writeUInt32BE(side, 4)
  head.set([8, 2], 8)
  const lines = Array.from({ length: side }, () => Buffer.concat([Buffer.alloc(1), randomBytes(side * 3)]))
  const png = [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0))]
  return `data:image/png;base64,${Buffer.concat(png).toString('base64')}`
}

await t.test('a picture counts as often as an e-mail shows it: one that is too much is left out, the others are shown', async (t) => {
  for (const [name, side] of [['large', 200], ['small', 10]] as const) {
    t.equal((await send('POST', '/api/v1/assets', { body: { name, image: noise(side) } })).status, 201)
  }
  const shows = (asset: string): string => `{ image: { asset: ${asset}, width: 20, alt: "" } }`
  const source = `name: Pictures
service: email
locale: en
body: [${[...Array.from({ length: 60 }, () => shows('large')), shows('small'), shows('small')].join(', ')}, { paragraph: "{{ name }}" }]
assets: { large: "asset:large", small: "asset:small" }
`
  const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ source }) })
  await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 1 } })
  const email = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello' }
  const { body } = await send('POST', '/api/email', { body: { email, template: { id, data: { name: 'Ada' } } } })
  const { status, body: shown } = await open(`/dispatches/${String(body.dispatchId)}/messages/0`, await signIn(admin))
  t.equal(status, 200)
  t.equal(shown.split('src="data:image/png;base64,').length - 1, 2, 'both places of the small one')
  t.equal(shown.split('src="cid:').length - 1, 60)
})

await t.test('what its author could make run is a text in a sandbox; what no browser shows is downloaded', async (t) => {
  const asDemo = await signIn(admin)
  const markup = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'
  for (const [name, type, content] of [['page.xml', 'application/xml', markup], ['lines.csv', 'text/csv', '<b>1</b>;2'], ['a.txt',
    'text/plain', markup]] as const)
  {
    const { dispatchId, generatedDocument: { id } } = await upload(name, type, content)
    const { headers, body } = await open(`/dispatches/${String(dispatchId)}/documents/${String(id)}`, asDemo)
    t.equal(headers.get('content-type'), 'text/plain; charset=utf-8', name)
    t.equal(headers.get('content-security-policy')?.split('; ', 1)[0], 'sandbox', name)
    t.equal(body, content)
  }
  const { dispatchId, generatedDocument: { id } } = await upload('page.html', 'text/html', '<script>alert(1)</script>')
  const page = await open(`/dispatches/${String(dispatchId)}`, asDemo)
  lacks(t, page.body, '<iframe')
  contains(t, page.body, 'page.html</a>')
  lacks(t, page.headers.get('content-security-policy'), 'frame-src')
  t.equal((await open(`/dispatches/${String(dispatchId)}/documents/${String(id)}`, asDemo)).status, 404)
})

await t.test('dispatches are filtered by all that the API has; a search that finds one leads to it', async (t) => {
  const mine = await service.company('filtering', { credits: 100 })
  const asMine = await signIn(mine.admin)
  contains(t, (await open('/dispatches', asMine)).body, '<a href="/console/send">')
  const { body: { dispatchId, providerResponse } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({ number: 'V-1' }, { metadata: { orderId: 'A-7' } }),
    headers: { 'x-request-id': 'request-v1' }
  }, mine.admin)
  await send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'V-2' }, { invoicing: { reference: 'reject' } }) }, mine.admin)
  const shown = async (query: string): Promise<string[]> =>
    [...((await open(`/dispatches?${query}`, asMine)).body as string).matchAll(/<td class="count[^"]*">(V-\d)/g)].map(([, number]) =>
      number ?? ''
    )
  t.same(await shown('metadataName=orderId&metadataValue=A-7'), ['V-1'])
  t.same(await shown('stepStatus=rejected&providerName=simulator'), ['V-2'])
  t.same(await shown('stepStatus=failed&error=provider_error'), ['V-2'])
  t.same(await shown('error=timeout'), [])
  contains(t, (await open('/dispatches?error=provider_error', asMine)).body,
    `<option value="provider_error" selected>${en.fault_provider_error}<`)
  for (const search of ['ada+lovelace', 'Love', 'LOVEL%C3%81CE']) t.same(await shown(`search=${search}`), ['V-2', 'V-1'], search)
  t.same(await shown('search=V-1&status=succeeded'), ['V-1'], 'with more than the search, a list')
  const requested = (): Promise<string[]> => shown('search=request-v1&status=succeeded')
  await until('the request is in the log', async () => (await requested()).length === 1)
  t.same(await requested(), ['V-1'])
  for (const query of [`search=${String(providerResponse.id)}`, 'search=V-1', `search=${String(dispatchId)}`, `id=${String(dispatchId)}`]) {
    const { status, headers } = await open(`/dispatches?${query}`, asMine)
    t.same([status, headers.get('location')], [303, `/console/dispatches/${String(dispatchId)}`], query)
  }
  const page = await open('/dispatches?stepStatus=rejected&providerName=gone', asMine)
  contains(t, page.body, '<option value="gone" selected>', 'a kept address keeps what it says')
  contains(t, page.body, '<details open>')
  contains(t, page.body, `${en.senderMe}</option><option value="`)
  const view = (await open('/dispatches?status=failed', asMine)).body
  contains(t, view, `<a href="/console/dispatches?status=failed" aria-current="page">`)
  contains(t, view, '<details class="fold"><summary>', 'a view says by itself what it shows')
  lacks(t, view, en.filterKept)
  for (const part of ['<details class="fold" open>', en.filterKept]) contains(t, page.body, part)
  for (const [half, missing] of [['metadataName=orderId', 'metadataValue'], ['metadataValue=A-7', 'metadataName']] as const) {
    for (const path of ['/dispatches', '/dispatches.csv', '/dispatches/retry']) {
      const { status, headers, body } = await open(`${path}?${half}`, asMine)
      t.same([status, headers.get('content-type')], [400, 'text/html; charset=utf-8'], `${path}?${half}`)
      contains(t, body, new RegExp(`id="f-${missing}"[^>]* aria-invalid="true"`))
      contains(t, body, `<p class="wrong" id="f-${missing}-wrong">${en.metadataHalf}</p>`)
      for (const part of ['V-1', 'V-2', 'name="dispatch"']) lacks(t, body, part, 'half a filter is not none')
    }
  }
  const asMember = await signIn(mine.member)
  contains(t, (await open('/dispatches', asMember)).body, `${en.senderMe}</option></select>`, 'a member sees no other users')
})

await t.test('the search finds dispatches, contacts, templates, providers and pages, of the reader alone', async (t) => {
  await send('POST', '/api/v1/contacts', { body: { name: 'Grace Hopper', city: 'Arlington' } }, acme.admin)
  const { body: { name } } = await send('GET', '/api/v1/templates/1', {}, acme.admin)
  const { body: { documentNumber } } = await send('GET', `/api/v1/dispatches/${String(invoice.dispatchId)}`, {}, acme.admin)
  const find = async (q: string, by = cookie): Promise<string> => (await open(`/find?q=${encodeURIComponent(q)}`, by)).body
  const found = [
    [String(documentNumber), `/console/dispatches/${String(invoice.dispatchId)}`],
    ['hopp', '/console/contacts/'],
    [String(name).slice(0, 6).toUpperCase(), '/console/templates/1'],
    ['imulat', '/console/providers/simulator'],
    ['log aud', '/console/audit'],
    ['', '/console/send']
  ] as const
  for (const [q, path] of found) contains(t, /<main[^]*<\/main>/.exec(await find(q))?.[0] ?? '', `href="${path}`, q)
  for (const q of [String(documentNumber), 'hopp']) contains(t, await find(q, theirs), en.findNone, q)
  lacks(t, await find('audit', await signIn(acme.member)), 'href="/console/audit"')
})

await t.test('one provider is chosen for several services in one step', async (t) => {
  const company = await service.company('choosing')
  const by = await signIn(company.admin)
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, company.admin)
  const choices = async (): Promise<unknown> => (await send('GET', '/api/v1/my/config', {}, company.admin)).body.company.choices
  const choose = async (...services: string[]): Promise<void> => {
    const chosen = await post('/providers/simulator/services', services.map((name): [string, string] => ['service', name]), by)
    t.equal(chosen.headers.get('location'), '/console/providers/simulator?chosen=1')
  }
  await choose('sms', 'email', 'no-service')
  t.strictSame(await choices(), { sms: 'simulator', email: 'simulator' })
  await choose('sms', 'postal')
  t.strictSame(await choices(), { sms: 'simulator', postal: 'simulator' })
  contains(t, (await open('/providers/simulator?chosen=1', by)).body, en.doesSaved)
  t.equal((await post('/providers/simulator/services', {}, await signIn(company.member))).status, 403)
})

await t.test('in a company with more users than a page reads, the others are filtered by their numbers', async (t) => {
  const crowd = await service.company('crowd')
  const asCrowd = await signIn(crowd.admin)
  lacks(t, (await open('/audit', asCrowd)).body, 'name="userId" type="text"')
  const { rows } = await sql<{ user_id: number }>`
    insert into users (company_id, email, role, services, password_hash, password_set_at, created_at)
    select ${crowd.companyId}, 'crowd-' || n || '@example.com', 'member', '{}', '', now(), now() from generate_series(1, 101) n
    returning user_id`.execute(service.app.get('database').owner)
  const [firstId, lastId] = [Math.min(...rows.map(({ user_id: id }) => id)), Math.max(...rows.map(({ user_id: id }) => id))]
  for (const path of ['/audit', '/dispatches']) {
    const { status, body } = await open(`${path}?userId=${lastId}`, asCrowd)
    t.equal(status, 200)
    contains(t, body, `name="userId" type="text" value="${lastId}"`)
    contains(t, body, `<option value="${firstId}">crowd-1@example.com</option>`, 'the first hundred are offered')
    contains(t, (await open(path, asCrowd)).body, 'name="userId" type="text" value=""', 'also where nobody is chosen yet')
  }
})

await t.test('an admin lets go on what waits for a provider, of the own company alone', async (t) => {
  const path = '/dispatches?stepStatus=unavailable&providerName=simulator'
  const { body: { dispatchId } } = await send('POST', '/api/invoicing?async=true', {
    body: invoiceRequest({}, { invoicing: { reference: 'unavailable' } })
  }, acme.admin)
  await until('it waits', async () => (await open(path, cookie)).body.includes(String(dispatchId)))
  const form = { stepStatus: 'unavailable', providerName: 'simulator' }
  contains(t, (await open('/dispatches?stepStatus=unavailable', cookie)).body, en.releaseAny)
  lacks(t, (await open('/dispatches?stepStatus=unavailable', await signIn(acme.member))).body, en.releaseAny)
  t.equal((await post('/dispatches/release', form, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403)
  lacks(t, (await open('/test/dispatches?stepStatus=unavailable', cookie)).body, en.releaseAny, 'tests have no release of their own')
  const ofTests = (await post('/test/dispatches/release', form, cookie)).headers.get('location')
  t.equal(ofTests, '/console/dispatches?providerName=simulator&stepStatus=unavailable', 'nothing real is released from there')
  contains(t, (await post('/dispatches/release', form, theirs)).headers.get('location'), 'released=0')
  const released = await post('/dispatches/release', form, cookie)
  t.equal(released.headers.get('location'),
    `/console${path}&released=1`.replace('stepStatus=unavailable&providerName=simulator', 'providerName=simulator&stepStatus=unavailable'))
  contains(t, (await open('/dispatches?released=1', cookie)).body, en.releaseDoneHere.replace('{n}', '1'))
})

await t.test('the dispatches of a filter are a CSV file, in which nothing is a formula', async (t) => {
  const formula = '=HYPERLINK("https://evil.example","x")'
  const { body } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({ customer: { name: formula } }, { metadata: { note: 'a "quoted" text' } })
  }, acme.admin)
  const path = `/dispatches.csv?recipient=${encodeURIComponent(formula)}`
  const { status, headers, body: file } = await open(path, cookie)
  t.equal(status, 200)
  has(t, Object.fromEntries(headers), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="dispatches.csv"',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store'
  })
  const [head = '', row = '', ...more] = linesIn(file)
  t.ok(head.startsWith('"dispatchId","services","status"'))
  t.same(more, [''])
  t.ok(row.startsWith(`"${String(body.dispatchId)}","invoicing","succeeded","","'=HYPERLINK(""https://evil.example"",""x"")"`))
  t.ok(row.endsWith('"{""note"":""a \\""quoted\\"" text""}"'), row)
  t.equal(linesIn((await open(path, theirs)).body).length, 2, 'nothing of another company')
  t.equal((await open('/dispatches.csv?from=never', cookie)).status, 400, 'what the API refuses is no file')
  t.equal((await open('/dispatches.csv', '')).status, 303)
  contains(t, (await open('/dispatches?service=sms&status=failed', cookie)).body, en.noneFiltered)
  contains(t, (await open('/dispatches?service=invoicing', cookie)).body, 'href="/console/dispatches.csv?service=invoicing"')
})

await t.test('an export reads page after page; the longest ends with a line that says so', async (t) => {
  const { owner } = service.app.get('database')
  const many = await service.company('many')
  const asMany = await signIn(many.admin)
  const add = (count: number): Promise<unknown> =>
    sql`insert into audit (company_id, action, object_kind, object_id, facts, at)
      select ${many.companyId}, 'test.copied', 'test', n::text, '{}', now() from generate_series(1, ${count}::int) n`.execute(owner)
  await add(250)
  const some = linesIn((await open('/audit.csv?action=test.copied', asMany)).body)
  t.same(some.slice(1, -1).map((row) => row.split(',')[2]), Array.from({ length: 250 }, (_, index) => `"test/${250 - index}"`))
  await add(9751)
  const all = linesIn((await open('/audit.csv?action=test.copied', asMany)).body)
  t.equal(all.length, 10_003)
  t.equal(all.at(-2), `"${en.exportCut.replace('{max}', '10000')}"`)
})

await t.test('the audit log of a filter is a CSV file too', async (t) => {
  await send('POST', '/api/v1/keys', { body: { name: '@cmd', mode: 'test' } }, acme.admin)
  const { status, headers, body } = await open('/audit.csv?action=key.created', cookie)
  t.equal(status, 200)
  t.equal(headers.get('content-disposition'), 'attachment; filename="audit.csv"')
  const [head, row = '', ...more] = linesIn(body)
  t.equal(head, '"at","action","object","userId","user","impersonatorId","keyId","address","facts"')
  t.same(more, [''])
  contains(t, row, /,"key\.created","key\/[\da-f-]{36}",\d+,"admin@[^"]+","","","[\d.:a-f]+","\{.*""name"":""@cmd""/)
  t.equal((await open('/audit.csv', await signIn(acme.member))).status, 403)
  lacks(t, (await open('/audit.csv', theirs)).body, '@cmd')
  contains(t, (await open('/audit?action=key.created', cookie)).body, 'href="/console/audit.csv?action=key.created"')
})

await t.test('a step that failed is corrected in a form, in which what it does not show stays', async (t) => {
  const asDemo = await signIn(admin)
  const email = { from: 'demo@example.com', to: ['reject@example.com', 'ada@example.com'], subject: 'Hello', headers: { 'X-Kept': 'yes' } }
  const { body: { dispatchId } } = await send('POST', '/api/email', { body: { email: { ...email, body: 'Dear Ada' } } })
  const at = `/dispatches/${String(dispatchId)}`
  const page = await open(at, asDemo)
  contains(t, page.body, 'name="email.subject" type="text" value="Hello"')
  const fields = { service: 'email', 'email.from': email.from, 'email.subject': 'Bonjour', 'email.body': 'Dear Ada' }
  const refused = await post(`${at}/correct`, { ...fields, 'email.to': 'nobody' }, asDemo)
  t.equal(refused.status, 400)
  contains(t, refused.body, '<details id="correct-email" open>')
  contains(t, refused.body, /id="f-email\.to"[^>]* aria-invalid="true"/)
  const good = { ...fields, 'email.to': 'ada@example.com\r\n' }
  t.equal((await post(`${at}/correct`, good, theirs)).status, 404, 'not by another company')
  t.equal((await post(`${at}/correct`, { ...good, service: 'sms' }, asDemo)).status, 409)
  t.equal((await post(`${at}/correct`, good, asDemo)).status, 303)
  await until('it goes on', async () => (await send('GET', `/api/v1${at}`)).body.status === 'succeeded')
  const { body: { steps: [{ fields: sent }] } } = await send('GET', `/api/v1${at}/request`)
  t.same(sent, { ...email, to: ['ada@example.com'], subject: 'Bonjour', body: 'Dear Ada' })
  lacks(t, (await open(at, asDemo)).body, 'name="email.subject"')
})

await t.test('a correction of what is no longer kept is refused with the words of the API', async (t) => {
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({}, { invoicing: { reference: 'reject' } })
  }, acme.admin)
  await service.app.get('database').owner.updateTable('dispatches').set({ data: null }).where('dispatch_id', '=', dispatchId).execute()
  const at = `/dispatches/${String(dispatchId)}`
  const { status, body } = await post(`${at}/correct`, { service: 'invoicing', 'invoicing.documentType': 'INVOICE' }, cookie)
  t.equal(status, 409)
  contains(t, body, (await send('GET', `/api/v1${at}/request`, {}, acme.admin)).body.message)
  lacks(t, body, en.correctionTooLate)
})

await t.test('all that failed of a filter is shown first, then retried; a form that is sent again retries nothing', async (t) => {
  const fail = async (number: string, reference: string): Promise<string> =>
    (await send('POST', '/api/invoicing', { body: invoiceRequest({ number }, { invoicing: { reference } }) }, acme.admin)).body.dispatchId
  const failed = [await fail('R-1', 'reject'), await fail('R-1', 'reject')]
  const apart = await fail('R-2', 'reject')
  const path = '/dispatches/retry?invoiceNumber=R-1'
  const page = await open(path, cookie)
  contains(t, page.body, en.retryAllCount.replace('{n}', '2'))
  const chosen = [...(page.body as string).matchAll(/name="dispatch" value="([^"]+)"/g)].map(([, value]) => value ?? '')
  t.same(chosen.map((value) => value.split(' ', 1)[0]).sort(), [...failed].sort())
  const retriesOf = async (id: string): Promise<number> =>
    (await send('GET', `/api/v1/dispatches/${id}/events?limit=100`, {}, acme.admin)).body.data.filter(({ kind }: { kind: string }) =>
      kind === 'resumed'
    ).length
  const ended = async (id: string): Promise<boolean> =>
    (await send('GET', `/api/v1/dispatches/${id}`, {}, acme.admin)).body.status === 'failed'
  const fields = chosen.map((value): [string, string] => ['dispatch', value])
  t.equal((await post('/dispatches/retry', fields, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403)
  lacks(t, (await post('/dispatches/retry', fields, theirs)).body, en.retryAllDone.replace('{n}', '2'))
  t.equal(await retriesOf(failed[0]!), 0, 'by nobody else')
  const done = await post('/dispatches/retry', fields, cookie)
  contains(t, done.body, en.retryAllDone.replace('{n}', '2'))
  for (const id of failed) await until('it has failed again', () => ended(id))
  const again = await post('/dispatches/retry', fields, cookie)
  contains(t, again.body, en.retryAllDone.replace('{n}', '0'))
  contains(t, again.body, en.retryAllChanged)
  t.same(await Promise.all([...failed, apart].map(retriesOf)), [1, 1, 0])
  contains(t, (await open('/dispatches/retry?invoiceNumber=none', cookie)).body, en.retryAllNone)
})

await t.test('what is chosen in the list is exported, retried or cancelled, once its reader means it', async (t) => {
  const mine = await service.company('choosing', { credits: 100 })
  const asMine = await signIn(mine.admin)
  const sendOne = async (number: string, more: object, query = ''): Promise<string> =>
    (await send('POST', `/api/invoicing${query}`, { body: invoiceRequest({ number, ...more }) }, mine.admin)).body.dispatchId
  const done = await sendOne('C-1', {})
  const { body: { dispatchId: failed } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({ number: 'C-2' }, { invoicing: { reference: 'reject' } })
  }, mine.admin)
  const page = (await open('/dispatches', asMine)).body as string
  const boxes = [...page.matchAll(/<input type="checkbox" form="chosen" name="(dispatch-[^"]+)" value="([^"]+)" aria-label="([^"]+)"/g)]
    .map(([, name = '', value = '', label = '']) => [name, value, label] as const)
  t.same(boxes.map(([name]) => name), [`dispatch-${String(failed)}`, `dispatch-${done}`])
  contains(t, boxes[1]?.[2], 'C-1')
  const chosen = boxes.map(([name, value]): [string, string] => [name, value])
  const list: [string, string] = ['list', '?status=failed']

  const file = await post('/dispatches/chosen.csv', [list, ...chosen.slice(0, 1)], asMine)
  t.same([file.status, file.headers.get('content-disposition')], [200, 'attachment; filename="dispatches.csv"'])
  t.same(file.body.split('\r\n').map((line: string) => line.split(',')[0]), ['"dispatchId"', `"${String(failed)}"`, ''])
  for (const path of ['chosen.csv', 'chosen/retry', 'chosen/cancel']) {
    const none = await post(`/dispatches/${path}`, [list], asMine)
    t.equal(none.status, 422)
    contains(t, none.body, en.chosenNone)
    contains(t, none.body, '<a href="/console/dispatches?status=failed">')
    lacks(t, (await post(`/dispatches/${path}`, chosen, theirs)).body, 'C-1', 'of nobody else')
  }
  const question = await post('/dispatches/chosen/retry', chosen, asMine)
  for (const part of ['name=":confirmed"', 'C-1', 'C-2', `<dt>${en.dispatches}</dt><dd>2</dd>`]) contains(t, question.body, part)
  const retried = await confirm('/dispatches/chosen/retry', chosen, asMine)
  contains(t, retried.body, en.retryAllDone.replace('{n}', '1'))
  contains(t, retried.body, en.retryOnlyFailed, 'what has succeeded is left alone')
  await until('it has failed again',
    async () => (await send('GET', `/api/v1/dispatches/${String(failed)}`, {}, mine.admin)).body.status === 'failed')
  contains(t, (await confirm('/dispatches/chosen/retry', chosen.slice(0, 1), asMine)).body, en.retryAllChanged, 'a form is good once')
  const refused = await confirm('/dispatches/chosen/cancel', chosen.slice(1), asMine)
  contains(t, refused.body, en.chosenNotCancelled)
  const { body: { dispatchId: later } } = await send('POST', '/api/invoicing?async=true', {
    body: invoiceRequest({ number: 'C-3' }, { sendAt: new Date(Date.now() + 86_400_000).toISOString() }),
    headers: { 'x-api-version': '1.1.0' }
  }, mine.admin)
  const cancelled = await confirm('/dispatches/chosen/cancel', [[`dispatch-${String(later)}`, `${String(later)} `]], asMine)
  contains(t, cancelled.body, en.chosenCancelled.replace('{n}', '1'))
  t.equal((await send('GET', `/api/v1/dispatches/${String(later)}`, {}, mine.admin)).body.status, 'cancelled')
})

await t.test('the list has the columns that its reader has chosen, and a phone the first of them', async (t) => {
  const titlesOf = (body: string): string[] => [...body.matchAll(/<th scope="col"[^>]*>([^<]+)/g)].map(([, title = '']) => title)
  const before = (await open('/dispatches', cookie)).body as string
  t.same(titlesOf(before), [en.dispatch, en.status, en.recipient, en.number, en.provider, en.created])
  contains(t, before, `<th scope="col" class="beside-phone">${en.provider}`)
  const kept = await post('/columns', [['list', 'dispatches'], ['back', '/console/dispatches?status=failed'], ['column', 'price'], [
    'column',
    'id'
  ], ['column', 'nonsense']], cookie)
  t.same([kept.status, kept.headers.get('location')], [303, '/console/dispatches?status=failed'])
  const [chosen = ''] = kept.headers.get('set-cookie')?.split(';', 1) ?? []
  t.equal(chosen, '__Host-console-columns=dispatches:price.id.nonsense')
  const after = (await open('/dispatches', `${cookie}; ${chosen}`)).body as string
  t.same(titlesOf(after), [en.dispatch, en.price, en.dispatchId])
  contains(t, after, '<input type="checkbox" id="f-column-6" name="column" value="price" checked>')
  t.same(titlesOf((await open('/dispatches', `${cookie}; __Host-console-columns=<b>`)).body), titlesOf(before), 'nonsense chooses nothing')
  // Each list has its own, in one cookie; what leads elsewhere leads to the first page.
  const lists = {
    audit: '/audit',
    requests: '/developers/requests',
    batches: '/batches',
    contacts: '/contacts',
    suppressions: '/suppressions',
    templates: '/templates'
  }
  await send('POST', '/api/v1/contacts', { body: { name: 'Ada', phone: '+33 1 23' } }, acme.admin)
  await send('POST', '/api/v1/suppressions', { body: { channel: 'email', address: 'no@example.com' } }, acme.admin)
  await send('POST', '/api/v1/batches?service=sms', { body: '{}\n', headers: { 'content-type': 'application/x-ndjson' } }, acme.admin)
  let all = chosen
  for (const [list, path] of Object.entries(lists)) {
    const [, name = ''] = /name="column" value="(\w+)"/.exec((await open(path, cookie)).body as string) ?? []
    const one = await post('/columns', [['list', list], ['back', `/console${path}`], ['column', name]], `${cookie}; ${all}`)
    t.equal(one.headers.get('location'), `/console${path}`)
    all = one.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const { body } = await open(path, `${cookie}; ${all}`)
    contains(t, body, `name="column" value="${name}" checked>`, list)
    t.equal(titlesOf(body).filter((title) => title !== ofSuppressions.suppressionRemove).length, 2, `${list}: the thing and one column`)
  }
  contains(t, all, 'dispatches:price.id.nonsense/audit:')
  t.equal((await post('/columns', [['list', '<'], ['back', 'https://evil.example'], ['column', 'x']], cookie)).headers.get('location'),
    '/console')
})

await t.test('the page of a dispatch says who sent it and whether it was a test; a run of one event is a line that unfolds', async (t) => {
  const { owner } = service.app.get('database')
  const at = `/dispatches/${String(invoice.dispatchId)}`
  const event = {
    company_id: acme.companyId,
    dispatch_id: invoice.dispatchId,
    kind: 'polled',
    actor: '{"kind":"system"}',
    facts: JSON.stringify({ status: '<i>mailed</i>', remote: { id: 1 }, nextTryAt: '2026-03-14T15:09:26.535Z' }),
    at: new Date()
  } as const
  await owner.insertInto('events').values([event, event]).execute()
  const twice: string = (await open(at, cookie)).body
  lacks(t, twice, `${en.event_polled} ×`)
  contains(t, twice,
    `<span>${en.event_polled}</span> <span class="quiet">${en.fact_status}: &lt;i&gt;mailed&lt;/i&gt; · ${en.fact_nextTryAt}: <time datetime=`)
  await owner.insertInto('events').values(event).execute()
  contains(t, (await open(at, cookie)).body, `<summary>${en.event_polled} × 3</summary>`)
  contains(t, twice, `<dt>${en.sender}</dt><dd>${acme.admin.email}</dd>`)
  lacks(t, twice, en.testNotice)
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'tests', mode: 'test' } }, acme.member)
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest(),
    headers: { authorization: `Bearer ${String(key)}` }
  }, null)
  const ofTest = await open(`/dispatches/${String(dispatchId)}`, cookie)
  t.same([ofTest.status, ofTest.headers.get('location')], [303, `/console/test/dispatches/${String(dispatchId)}`])
  contains(t, (await open(`/test/dispatches/${String(dispatchId)}`, cookie)).body, `<p>${en.testNotice}</p>`)
  t.equal((await open(at.replace('/dispatches', '/test/dispatches'), cookie)).headers.get('location'), `/console${at}`)
  contains(t, (await open('/audit', cookie)).body, `>${acme.member.email}</a>`)
  contains(t, (await open('/audit?userId=99999', cookie)).body, 'name="userId" type="text" value="99999"',
    'a number that is nobody\'s stays in the form')
})

await t.test('a page that follows changes can be loaded again, too; one of what has ended is as it stays', async (t) => {
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({}, { invoicing: { reference: 'uncertain' } })
  }, acme.admin)
  const at = `/dispatches/${String(dispatchId)}`
  contains(t, (await open(at, cookie)).body, `data-page="/console${at}"><span hidden>${en.follows}</span> <a href="/console${at}">`)
  lacks(t, (await open(`/dispatches/${String(invoice.dispatchId)}`, cookie)).body, 'data-changes')
  lacks(t, (await open(`/dispatches?cursor=${String(invoice.dispatchId)}`, cookie)).body, 'data-changes')
  t.equal((await open(`${at}/changes`, theirs)).status, 404, 'not to another company')
  t.equal((await open(`${at}/changes`, '')).status, 303)
})

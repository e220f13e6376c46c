import { globSync } from 'node:fs'
import t from 'tap'
import { isAccessible, isRight, launchChromium, watchFaults } from '../../../../../test/plugins/support/chromium.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { startService } from '../../../../../test/support/service.ts'
import { type ApiDocument, apiPages } from '../service/api.ts'
import { createDocumentation } from '../service/documentation.ts'
import { markupOf } from '../service/markdown.ts'
import { indexOf, partsOf } from '../service/search.ts'

const { send, url } = await startService(t)
const documentation = createDocumentation()
const browser = await launchChromium(t)
const get = (path: string) => send('GET', path, {}, null)

await t.test('each page is served, with everything that it links to', async (t) => {
  const addresses = new Set(documentation.pages().map(({ address }) => `/docs/${address}`))
  t.equal(addresses.size, documentation.pages().length, 'each has an address of its own')
  t.same(documentation.pages().filter(({ title }) => title === ''), [], 'and a title')
  const own = ['/docs/en', '/docs/fr', '/docs/reference', '/docs/reference/callbacks', '/docs/providers', '/console']
  const anchors = new Map(documentation.pages().map((page) => [
    `/docs/${page.address}`,
    new Set([...documentation.markup(page).markup.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))
  ]))
  for (const page of documentation.pages()) {
    const { markup } = documentation.markup(page)
    for (const [, link = ''] of markup.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
      const [path = '', anchor] = link.split('#')
      if (path.startsWith('/docs/pictures/')) t.ok(documentation.picture(path.slice('/docs/pictures/'.length)), `${page.address}: ${link}`)
      else if (path.startsWith('/docs/reference/')) t.equal((await get(path)).status, 200, `${page.address}: ${link}`)
      else t.ok(own.includes(path) || addresses.has(path), `${page.address}: ${link}`)
      if (anchor !== undefined) t.ok(anchors.get(path)?.has(anchor), `${page.address}: ${link}`)
    }
  }
  for (const path of ['/docs', '/docs/services/sms', '/docs/errors', '/docs/errors/outcome_unknown', '/docs/providers/stripe',
    '/docs/changelog'])
  {
    const { status, headers, body } = await get(path)
    t.equal(status, 200, path)
    contains(t, headers.get('content-security-policy'), /^default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'/)
    lacks(t, String(body), /<script|style=/, path)
  }
})

await t.test('the guides of who uses the console are there in French, page by page', async (t) => {
  const french = documentation.pages().filter(({ language }) => language === 'fr')
  t.same(french.map(({ address }) => address), ['fr/send-from-the-console', 'fr/run-a-company', 'fr/make-documents-yours',
    'fr/nothing-twice', 'fr/e-reporting', 'fr/for/admin'])
  const shapeOf = (markdown: string) =>
    (markdown.match(/^(#+ |```.*|curl |- |\|(?: `[^|]*)?)/gm) ?? []).join('\n') + (markdown.match(/^!\[/gm) ?? []).join('\n') +
    (markdown.match(/https?:\/\/[^ ']+/g) ?? []).join('\n')
  for (const page of french) {
    const english = documentation.page(page.other!)!
    t.equal(english.other, page.address)
    t.equal(shapeOf(page.markdown), shapeOf(english.markdown), `${page.address} has all that the English page has`)
    const { body, status } = await get(`/docs/${page.address}`)
    t.equal(status, 200)
    contains(t, body, '<html lang="fr">')
    contains(t, body, `<a href="/docs/${english.address}" lang="en" hreflang="en">This page in English</a>`)
    contains(t, (await get(`/docs/${english.address}`)).body,
      `<a href="/docs/${page.address}" lang="fr" hreflang="fr">Cette page en français</a>`)
    contains(t, (await get('/docs/fr')).body, `<a href="/docs/${page.address}">${page.title}</a>`)
    contains(t, (await get(`/docs/${page.address}.md`)).body, `# ${page.title}`)
    for (const [, link = ''] of documentation.markup(page).markup.matchAll(/href="\/docs\/([^"#]*)/g)) {
      t.equal(documentation.page(`fr/${link}`), undefined, `${page.address} leads to ${link} in English, which is there in French`)
    }
  }
  contains(t, (await get('/docs/fr/for/admin')).body,
    /<h2>Pages en français<\/h2>.*aria-current="page">Pour les administrateurs<.*<div lang="en">/s)
  contains(t, (await get('/docs/fr/run-a-company')).body, '<p class="caption">Réponse</p>')
  contains(t, (await get('/docs/search?q=approuvé+règle')).body, /<li lang="fr"><a href="\/docs\/fr\/run-a-company#/)
  const found = (await get('/docs/fr/search?q=budgets')).body
  contains(t, found, /<h1>Recherche<\/h1>\n<ul class="found"><li lang="fr"><a href="\/docs\/fr\/for\/admin#budgets"/)
  contains(t, found, '<li lang="en"><a href="/docs/for/admin#budgets"')
  contains(t, found, '<form role="search" action="/docs/fr/search">')
  contains(t, (await get('/docs/fr/search?q=xyzzy')).body, 'Rien ne contient ces mots : xyzzy')
  lacks(t, (await get('/llms.txt')).body, '/docs/fr/')
})

await t.test('ten pictures of the console are there in both languages, and shown in the guides of each', (t) => {
  const folder = 'plugins/console/pictures'
  const english = globSync('*.png', { cwd: folder })
  t.equal(english.length, 10)
  t.same(globSync('fr/*.png', { cwd: folder }).sort(), english.map((name) => `fr/${name}`).sort())
  for (const [language, names] of [['en', english], ['fr', english.map((name) => `fr/${name}`)]] as const) {
    const shown = documentation.pages().filter((page) => page.section === 'Begin' && page.language === language)
      .map((page) => documentation.markup(page).markup).join('')
    for (const name of names) contains(t, shown, `src="/docs/pictures/${folder}/${name}"`)
  }
  t.end()
})

await t.test('the documentation begins in the language in which the console speaks to the same reader', async (t) => {
  const begin = async (path: string, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(url + path, { headers, redirect: 'manual' })
    return [answer.status, answer.headers.get('location'), /<html lang="(..)">/.exec(await answer.text())?.[1]]
  }
  const chosen = (language: string) => ({
    cookie: `__Host-console-language=${language}`,
    'accept-language': language === 'fr' ? 'en' : 'fr'
  })
  t.same(await begin('/docs', { 'accept-language': 'fr-FR,fr;q=0.9,en;q=0.8' }), [302, '/docs/fr', undefined])
  t.same(await begin('/docs', chosen('fr')), [302, '/docs/fr', undefined])
  t.same(await begin('/docs', chosen('en')), [200, null, 'en'])
  t.same(await begin('/docs', { 'accept-language': 'de' }), [200, null, 'en'])
  t.same(await begin('/docs/en', chosen('fr')), [200, null, 'en'])
  contains(t, (await get('/docs/fr')).body, '<a href="/docs/en" lang="en" hreflang="en">This page in English</a>')
  contains(t, (await get('/docs/en')).body, '<a href="/docs/fr" lang="fr" hreflang="fr">Cette page en français</a>')
  t.same(await begin('/docs/fr/nothing', {}), [404, null, 'fr'])
})

await t.test('a page is sent compressed, and not again to who has it', async (t) => {
  const requested = async (path: string, headers: Record<string, string>) => {
    const { status, headers: reported, body } = await send('GET', path, { headers }, null)
    return {
      status,
      coding: reported.get('content-encoding'),
      vary: reported.get('vary'),
      etag: reported.get('etag') ?? '',
      body: String(body)
    }
  }
  for (const path of ['/docs/en', '/docs/errors', '/docs/reference', '/docs/reference/login']) {
    const plain = await requested(path, { 'accept-encoding': 'identity' })
    has(t, plain, { status: 200, coding: null, vary: 'accept-encoding' }, path)
    for (const coding of ['br', 'gzip']) {
      const { body } = plain
      has(t, await requested(path, { 'accept-encoding': coding }), { status: 200, coding, etag: plain.etag, body }, path)
    }
    has(t, await requested(path, { 'if-none-match': plain.etag }), { status: 304, vary: 'accept-encoding', body: '' }, path)
  }
  has(t, await requested('/docs', { 'accept-encoding': 'br', 'accept-language': 'en' }), {
    vary: 'accept-language, cookie, accept-encoding'
  })
  has(t, await requested('/docs/search?q=sms', { 'accept-encoding': 'br' }), { status: 200, coding: null })
})

await t.test('a guide links to nothing that is not served', (t) => {
  for (const page of documentation.pages().filter(({ file = '' }) => /documentation\/guides|core\/services/.test(file))) {
    const links = page.markdown.match(/\]\([^)]+\)/g)?.length ?? 0
    const { markup } = documentation.markup(page)
    t.equal((markup.match(/<a |<img /g) ?? []).length - (page.markdown.match(/<http/g)?.length ?? 0), links, page.address)
  }
  t.end()
})

await t.test('addresses of before lead on, and what is not there is told', async (t) => {
  const lead = async (path: string): Promise<[number, string | null]> => {
    const { status, headers } = await fetch(url + path, { redirect: 'manual' })
    return [status, headers.get('location')]
  }
  t.same(await lead('/docs/'), [301, '/docs'])
  t.same(await lead('/docs/reference/'), [301, '/docs/reference'])
  t.same(await lead('/docs/json'), [301, '/docs/try/json'])
  t.same(await lead('/docs/static/index.html?a=1'), [301, '/docs/try/static/index.html?a=1'])
  t.same(await lead('/docs/reference/static/index.html?a=1'), [301, '/docs/try/static/index.html?a=1'])
  for (const path of ['/docs/nothing', '/docs/pictures/package.json']) {
    t.equal((await get(path)).status, 404, path)
  }
})

await t.test('the pages are searched, and programs get them as Markdown', async (t) => {
  const { body } = await get('/docs/search?q=verify+a+callback')
  contains(t, body, /<a href="\/docs\/callbacks#verify-it">/)
  lacks(t, /<ul class="found">.*<\/ul>/s.exec(body)?.[0], /[*`|]|\]\(/, 'what is found is shown as text')
  contains(t, (await get('/docs/search?q=<b>xyzzy</b>')).body, 'Nothing has these words: &lt;b&gt;xyzzy&lt;/b&gt;')
  has(t, await get('/docs/search'), { status: 200 })
  const llms = await get('/llms.txt')
  contains(t, llms.headers.get('content-type'), 'text/plain')
  contains(t, llms.body, '- [Chains: several services in one request](https://dispatch.example.com/docs/chains.md)')
  const page = await get('/docs/chains.md')
  contains(t, page.headers.get('content-type'), 'text/markdown')
  contains(t, page.body, /^# Chains/)
  contains(t, (await get('/docs/nothing-twice.md')).body, '[The client](/docs/client)')
  t.same(partsOf('# A\none\n```sh\n# no heading\n```\n## B `b`\ntwo\n'), [
    { title: 'A', anchor: '', text: 'one\n```sh\n# no heading\n```' },
    { title: 'A: B b', anchor: 'b-b', text: 'two' }
  ])
})

await t.test('the reference has a page for each operation, the callbacks and each type, and leads to what is there', async (t) => {
  const { body: document } = await get('/openapi/1.1.0.json')
  const pages = apiPages(document as ApiDocument)
  const addresses = new Set(pages.map(({ address }) => `/docs/${address}`))
  const operations = Object.values<object>(document.paths).flatMap(Object.entries).filter(([method]) => method !== 'parameters')
  for (const [, { operationId }] of operations) t.ok(addresses.has(`/docs/reference/${String(operationId)}`), operationId)
  t.equal(addresses.size, operations.length + Object.keys(document.components.schemas).length + 2)
  for (const { address, markdown } of pages) {
    lacks(t, markdown, /undefined|\[object/, address)
    for (const [, link = ''] of markdown.matchAll(/\]\((\/[^)]*)\)/g)) {
      const isKnown = addresses.has(link) || documentation.page(link.slice('/docs/'.length)) !== undefined
      if (!isKnown) contains(t, link, /^\/(docs\/try\/|openapi\/1\.1\.0\.json)/, `${address}: ${link}`)
    }
  }
  for (const type of Object.keys(document.webhooks)) {
    contains(t, pages.find(({ address }) => address === 'reference/callbacks')?.markdown, `| \`${type}\` |`)
  }
  const { status, body } = await get('/docs/reference/dispatchInvoicing')
  t.equal(status, 200)
  contains(t, body, '<code>POST /api/invoicing</code>')
  contains(t, body, '<a href="/docs/try/#/Dispatch/dispatchInvoicing">')
  contains(t, body, '<a href="/docs/reference/types/InvoicingRequest">')
  contains(t, body, '<a href="/docs/errors/validation_failed">')
  contains(t, (await get('/docs/reference')).body, '<a href="/docs/reference/dispatchInvoicing">')
  contains(t, (await get('/docs/reference/types/PostalRecipient.md')).body, '| `postalCode` | [`OneLine`](/docs/reference/types/OneLine)')
  t.equal((await get('/docs/reference/nothing')).status, 404)
  contains(t, (await get('/llms.txt')).body, 'https://dispatch.example.com/docs/reference.md')
})

await t.test('the search knows operations, words of errors and providers, in an index that is made once', async (t) => {
  for (const [query, found] of [
    ['dispatchInvoicingEmail', '/docs/reference/dispatchInvoicingEmail'],
    ['reads how far an erasure is', '/docs/reference/readErasure'],
    ['idempotency_key_reused', '/docs/errors/idempotency_key_reused'],
    ['Pennylane', '/docs/providers/pennylane']
  ] as const) contains(t, (await get(`/docs/search?q=${encodeURIComponent(query)}`)).body, `<a href="${found}`, query)
  let reads = 0
  const parts = ['a tea', 'tea and tea', 'milk'].map((title) => ({
    title,
    get text () {
      reads++
      return 'Cups of tea.'
    }
  }))
  const search = indexOf(parts)
  const read = reads
  t.same(search('tea cup', 5).map(({ title }) => title), ['a tea', 'tea and tea', 'milk'])
  t.same(search('milk', 1).map(({ title }) => title), ['milk'])
  t.same(search('coffee', 5), [])
  t.equal(reads, read)
})

await t.test('raw markup and other addresses in a page stay text', (t) => {
  const { markup } = markupOf('# A <b>\n\n<script>alert(1)</script>\n\nx <img src=y onerror=z> [a](javascript:alert(1)) ![p](data:x) `<i>`',
    () => undefined)
  lacks(t, markup, /<script|<img|<b>|<i>|javascript:/)
  contains(t, markup, '&lt;script&gt;')
  t.end()
})

await t.test('an error names its page from version 1.1.0 on', async (t) => {
  const wrong = (version: string) => send('GET', '/api/v1/nothing', { headers: { 'x-api-version': version } })
  has(t, (await wrong('1.1.0')).body, { docs: 'https://dispatch.example.com/docs/errors/not_found' })
  t.same(Object.keys((await wrong('1.0.1')).body), ['error', 'message', 'requestId'])
  t.same(Object.keys((await send('GET', '/api/v1/nothing')).body), ['error', 'message', 'requestId'])
})

await t.test('axe finds nothing on the pages', { skip: browser === undefined && 'there is no Chromium' }, async (t) => {
  const context = await browser!.newContext()
  const faults = watchFaults(context, url)
  const page = await context.newPage()
  for (const path of ['/docs', '/docs/fr', '/docs/fr/for/admin', '/docs/fr/search?q=rappel', '/docs/nothing-twice',
    '/docs/services/invoicing', '/docs/errors', '/docs/for/client', '/docs/for/operator', '/docs/search?q=callback', '/docs/no',
    '/docs/reference', '/docs/reference/dispatchInvoicing', '/docs/reference/callbacks', '/docs/reference/types/InvoicingRequest'])
  {
    await page.goto(url + path)
    await isRight(t, page, path)
  }
  await page.goto(`${url}/docs/try/#/Dispatch/dispatchInvoicing`)
  await page.locator('.opblock.is-open .parameter__in').first().waitFor()
  await page.locator('button.opblock-summary-control a[href]').first().waitFor({ state: 'detached' })
  await isAccessible(t, page, 'where a request is tried')
  t.same(faults, [])
})

import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, type Login, shippedProviders, startService } from '../support/service.ts'
import { launchChromium, signInAt, watchFaults } from './support/chromium.ts'
import { pagesOf } from './support/console-pages.ts'
import { furnished } from './support/furnished.ts'

/** Names that are hard to show: without a place to break, from right to left, of joined pictures, under many marks, of nothing seen. */
const names = [
  'W'.repeat(60),
  'a/'.repeat(30),
  'محمد بن عبد الله '.repeat(3).trim(),
  '\u200fشركة\u200b \u202eABC\u202c عربية',
  '👩‍👩‍👧‍👦'.repeat(5),
  `a${'\u0301'.repeat(30)}b${'\u0337\u0310\u0327'.repeat(8)}`,
  '\u200b\u200d\u2060\u200b',
  '\u3164\u00ad\u2800'
]
/** What a vendor says that refuses. */
const rude = [
  `<h1>Error</h1>${'m'.repeat(1_000_000)}`,
  '\u001b[31mred\u001b[0m\u0007\0\b and \u202etxt.exe',
  'javascript:alert(1)',
  '<div>'.repeat(5_000),
  'line\n'.repeat(50_000),
  '\u200b',
  'W'.repeat(9_000)
]
const folder = await directory(t)
await provide(folder, 'rude', {
  'index.js': `import { defineProvider, refused, Type } from '@dispatch/core/provider'
const texts = ${JSON.stringify(rude)}
export default defineProvider({
  code: 'rude',
  name: 'Rude',
  settings: Type.Object({ region: Type.Optional(Type.String({})) }),
  services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, async dispatch (request) {
    const text = texts[Number(request.invoicing.reference.slice(1))] ?? ''
    if (request.invoicing.reference.startsWith('s')) return { id: text.slice(0, 500) || 'id', status: text, url: text }
    throw refused('declined', text)
  } } }
})
`
})
const service = await startService(t, {
  config: { providerDirectories: [shippedProviders, folder], keepsRequestLog: true },
  replacements: { renderer: quickRenderer }
})
const { send, url } = service
const browser = await launchChromium(t)
const widths = [390, 1280]

/** What nobody can read, or press, on a page. */
const look = `(() => {
  const width = document.documentElement.clientWidth
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0
  const isInside = (one) => {
    for (let e = one.parentElement; e !== null; e = e.parentElement) if (getComputedStyle(e).overflowX !== 'visible') return true
    return false
  }
  const isBlank = (one) => (one.innerText + (one.getAttribute('aria-label') ?? '')).replaceAll(/[\\s\\p{Cf}\\p{Mn}\\u3164\\u2800]/gu, '') === ''
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isSeen)
  const cut = all('main :is(a, button, input, select, textarea, summary)').filter((one) => {
    const { left, right } = one.getBoundingClientRect()
    return (left < 0 || right > width + 1) && !isInside(one)
  })
  const nameless = all('main :is(a, button, summary), h1, h2').filter(isBlank)
  const endless = [...document.querySelectorAll('form:not([method=post]):has(button) input:is([type=text], [type=search], [type=url])')]
    .filter(({ maxLength }) => maxLength < 0)
  const told = (what, ones) => ones.map(({ outerHTML }) => what + ': ' + outerHTML.slice(0, 200))
  return [
    ...document.documentElement.scrollWidth > width ? ['wider than the screen'] : [],
    ...document.documentElement.scrollHeight > 15_000 ? ['far too long'] : [],
    ...document.querySelector('h1 h1, main div div div div div div div div div') === null ? [] : ['markup of others'],
    ...new RegExp('[\\\\0-\\\\x08\\\\x1b]').test(document.body.textContent) ? ['control characters'] : [],
    ...told('cut', cut), ...told('nameless', nameless), ...told('endless', endless)
  ]
})()`

async function reader (browser: Browser, locale: string, login?: Login): Promise<{ page: Page, faults: string[] }> {
  const context = await browser.newContext({ baseURL: url, locale })
  const faults = watchFaults(context, url)
  const page = await context.newPage()
  if (login !== undefined) {
    await signInAt(page, '/console/sessions', login)
    await page.waitForURL('**/console/sessions')
  }
  return { page, faults }
}

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else {
  await t.test('each page can be read and used, whatever names people have and vendors say', async (t) => {
    const company = await service.company('bad')
    const { made, refused } = await furnished(service, company, { texts: names, vendor: 'rude', adapter: 'wares' })
    for (const what of ['key', 'endpoint', 'contact', 'alert', 'company']) {
      t.same(refused[what], names.slice(-2), `${what}: a name that nobody sees is refused`)
    }
    const said = await Promise.all(
      rude.flatMap((_, index) => ['r', 's'].map((kind) => `${kind}${String(index)}`)).map((reference) =>
        send('POST', '/api/invoicing', { body: { ...invoiceRequest(), providerName: 'rude', invoicing: { reference } } }, company.admin)
      )
    )
    const dispatchIds = [...made.dispatchIds, ...said.map(({ body }) => body.dispatchId as string)]
    const readers = await Promise.all(['en', 'fr'].map(async (locale) => ({
      admin: await reader(browser, locale, company.admin),
      operator: await reader(browser, locale, company.operator),
      nobody: await reader(browser, locale)
    })))
    for (const [index, { path, reader: who }] of pagesOf({ ...made, dispatchIds }).entries()) {
      // Every other page in the other language.
      for (const [number, one] of readers.entries()) {
        if (index % readers.length !== number) continue
        const { page } = one[who]
        const answer = await page.goto(`/console${path}`)
        t.ok((answer?.status() ?? 500) < 500, path)
        await page.evaluate('for (const details of document.querySelectorAll("main details")) details.open = true')
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 })
          t.same(await page.evaluate(look), [], `${path} at ${String(width)} px`)
        }
      }
    }
    t.same(readers.flatMap((one) => Object.values(one).flatMap(({ faults }) => faults)), [])
  })
}

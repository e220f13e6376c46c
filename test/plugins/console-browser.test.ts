import { withoutDirectionControls } from '@dispatch/common'
import { buildCatalog, catalogFile, makeKeys, signCatalog } from '@dispatch/marketplace'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { packed } from '../support/adapters.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Login, operator, shippedProviders, startService } from '../support/service.ts'
import { isAccessible, isRight, launchChromium, signInAt, views, watchFaults } from './support/chromium.ts'
import { type Made, pagesOf, unlisted } from './support/console-pages.ts'
import { furnished } from './support/furnished.ts'
import { hostileTexts } from './support/hostile-texts.ts'

const [first = ''] = hostileTexts
const all = hostileTexts.join(' ')
const vendor = await createVendor()
t.teardown(vendor.close)
const folder = await directory(t)
await provide(folder, 'evil', {
  'index.js': `import { defineProvider, Secret, Type } from '@dispatch/core/provider'
const text = ${JSON.stringify(all)}
const texts = { fr: { title: text, description: text } }
export default defineProvider({
  code: 'evil',
  name: ${JSON.stringify(first)},
  settings: Type.Object({
    token: Type.Optional(Secret({ title: text, description: text, 'x-texts': texts })),
    region: Type.Optional(Type.String({ title: text, description: text, default: text, 'x-texts': texts }))
  }),
  services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, async dispatch (request) {
    const texts = ${JSON.stringify(hostileTexts)}
    const index = Number(request.invoicing.reference)
    if (index % 2 === 0) throw new Error(texts[index])
    return { id: texts[index], status: texts[index] }
  } } }
})
`
})
const settings = { type: 'object', properties: { region: { type: 'string', title: all, description: all } } }
const bytes = Buffer.from(packed({
  code: 'wares',
  version: '1.0.0',
  conforms: 1,
  settings,
  publisher: first,
  changelog: all,
  says: { name: first }
}))
const { privateKey, publicKey } = await makeKeys()
const keyFile = join(await directory(t), 'key.json')
await writeFile(keyFile, JSON.stringify(publicKey))
vendor.on(`GET /${catalogFile}`, {
  text: await signCatalog(await buildCatalog([{ place: 'wares-1.0.0.tgz', bytes }], { now: new Date(), days: 90 }), privateKey)
})
const service = await startService(t, {
  config: {
    providerDirectories: [shippedProviders, folder],
    catalogs: [{ address: 'https://catalogs.acme.test/', keyFiles: [keyFile] }],
    keepsRequestLog: true
  },
  replacements: { renderer: quickRenderer, network: vendorNetwork(vendor) }
})
const { app, send, url } = service
const browser = await launchChromium(t)

/** Things that have pages of their own are many, and the lists show all of them: a few are enough. */
function some ({ dispatchIds, templateIds, endpointIds, ...made }: Made): Made {
  const each = <Id>(ids: readonly Id[], nth: number): Id[] => ids.filter((_, index) => index % nth === 0)
  return { ...made, dispatchIds: each(dispatchIds, 7), templateIds: each(templateIds, 4), endpointIds: each(endpointIds, 8) }
}

/** Lets the operator of a company mail links by its simulator. */
async function mailsLinks ({ admin, operator: by }: { admin: Login, operator: Login }): Promise<void> {
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['@acme.test'] } } }, admin)
  await send('PUT', '/api/v1/link-mail', { body: { providerName: 'simulator', from: 'hello@acme.test' } }, by)
}

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else await inBrowser(browser)

await t.test('the list of pages is that of the routes', async (t) => {
  t.same(await unlisted(app), { missing: [], gone: [] })
})

async function inBrowser (browser: Browser): Promise<void> {
  const company = await service.company('evil')
  await send('POST', '/api/v1/marketplace/refresh', {}, operator)
  const watched: string[][] = []

  /** A page of somebody who has signed in, or of nobody, with a watch over what it does. */
  async function reader (view: typeof views[number], login?: Login): Promise<Page> {
    const context = await browser.newContext({ baseURL: url, ...view })
    watched.push(watchFaults(context, url))
    const page = await context.newPage()
    if (login !== undefined) {
      await signInAt(page, '/console/sessions', login)
      await page.waitForURL('**/console/sessions')
    }
    return page
  }
  const readers = await Promise.all(views.map(async (view) => ({
    locale: view.locale,
    admin: await reader(view, company.admin),
    operator: await reader(view, company.operator),
    nobody: await reader(view)
  })))
  const { made, refused } = await furnished(service, company, { texts: hostileTexts, vendor: 'evil', adapter: 'wares' })

  await mailsLinks(company)

  await t.test('pages that have a form only where links are mailed have it here', async (t) => {
    for (const [who, path, field] of [['nobody', '/forgotten', 'email'], ['operator', '/link-mail', 'from']] as const) {
      const page = readers[0]?.[who]
      await page?.goto(`/console${path}`)
      t.equal(await page?.locator(`main [name=${field}]`).count(), 1, path)
    }
  })

  await t.test('the service takes no such text for an address, and any of them for a name', (t) => {
    for (const what of ['user', 'invitation']) t.same(refused[what], hostileTexts, `${what}: refused`)
    for (const what of ['key', 'endpoint', 'settings', 'credits', 'company', 'file name', 'invoice']) {
      t.same(refused[what] ?? [], [], `${what}: taken`)
    }
    t.end()
  })

  /** Whatever is no part of our own pages, and the texts of a page with those in its fields. */
  const look = `(() => ({
    strange: [...document.querySelectorAll('x-evil, base, main img:not([src^="data:"]), main svg:not(.chart, .qr), main script, main style, b, body > style, object, embed, ' +
      'iframe[src^="//"], [onclick], [onload], [onerror], [onfocus], [onmouseover], [style], a[href^="javascript:" i], form[action^="//"]')]
      .map(({ outerHTML }) => outerHTML.slice(0, 200)),
    text: [document.title, document.body.textContent,
      ...[...document.querySelectorAll('input, textarea, [aria-label], [title]')].map((one) =>
        [one.value ?? '', one.getAttribute('aria-label') ?? '', one.getAttribute('title') ?? ''].join(' '))].join(' ')
  }))()`
  const shown = new Map<string, string[]>()
  await t.test('on every page, what others write is text, and axe finds nothing, in each language and theme', async (t) => {
    for (const [index, { path, reader: who }] of pagesOf(some(made)).entries()) {
      // Pages of single things are many: every other one in the other language.
      const single = /\/(?:dispatches|endpoints|templates)\/[\w-]+$/.test(path)
      for (const [number, one] of readers.entries()) {
        if (single && index % 2 !== number) continue
        const page = one[who]
        await page.goto(`/console${path}`)
        const { strange, text } = await page.evaluate<{ strange: string[], text: string }>(look)
        t.same(strange, [], `${path}: nothing strange`)
        shown.set(path, hostileTexts.filter((hostile) => text.includes(withoutDirectionControls(hostile))))
        t.equal(await page.getAttribute('html', 'lang'), one.locale)
        await page.evaluate('for (const details of document.querySelectorAll("main details")) details.open = true')
        await isRight(t, page, `${path} (${who}, ${one.locale})`)
      }
    }
    t.same(watched.flat(), [], 'no script, no dialog, no breach, no stranger')
    for (const path of ['/developers', '/second-factor']) t.same(shown.get(path), hostileTexts, `${path} shows them as text`)
    // A company has ten endpoints at most.
    t.same(shown.get('/developers/endpoints'), hostileTexts.slice(0, 10))
  })

  await t.test('the gallery shows each part in both themes at three widths; nobody but an operator finds it', async (t) => {
    for (const { locale, admin, operator: page } of readers) {
      t.equal((await admin.goto('/console/gallery'))?.status(), 404)
      await page.goto('/console/gallery')
      for (const width of [390, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        t.ok(await page.evaluate<number>('document.documentElement.scrollWidth') <= width, `${locale}: it fits in ${width} px`)
        const photographs = []
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await isAccessible(t, page, `${locale}, ${width} px, ${colorScheme}`)
          photographs.push(await page.screenshot({ fullPage: true }))
        }
        const [light, dark] = photographs
        t.ok(light !== undefined && dark?.equals(light) === false, 'the themes differ')
      }
    }
  })

  await t.test('the keyboard goes past the menu', async (t) => {
    const [{ admin: page }] = readers as [typeof readers[0]]
    await page.goto('/console')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    t.equal(await page.evaluate('document.activeElement.id'), 'main')
  })
}

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { admin, invoiceRequest, startService } from '../support/service.ts'
import { isAccessible, launchChromium } from './support/chromium.ts'

/** No other host: what a page has in itself, and Chromium's viewer of PDF files. */
const ownSchemes = ['data:', 'chrome:', 'chrome-extension:']

const browser = await launchChromium(t, { showsPdf: true })
if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else await inBrowser(browser)

async function inBrowser (browser: Browser): Promise<void> {
  const { url, send } = await startService(t)
  const text = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
  const reject = { invoicing: { reference: 'reject' }, metadata: { note: text } }
  const rejected = async (): Promise<string> =>
    (await send('POST', '/api/invoicing', { body: invoiceRequest({ customer: { name: text } }, reject) })).body.dispatchId as string
  await send('POST', '/api/invoicing', { body: invoiceRequest() })
  const doubtful = (await send('POST', '/api/invoicing', { body: invoiceRequest({}, { invoicing: { reference: 'uncertain' } }) })).body
  const smtp = { host: 'smtp.example.com', user: 'ada', password: 'canary-password', allowedSenders: ['demo@example.com'] }
  await send('PUT', '/api/v1/company/providers/smtp', { body: { settings: smtp } })
  await send('PUT', '/api/v1/company/providers/universign', { body: { settings: { apiKey: 'canary-key' } } })
  const pages = ['/console', '/console/dispatches', `/console/dispatches/${await rejected()}`,
    `/console/dispatches/${String(doubtful.dispatchId)}`, '/console/providers', '/console/providers/smtp', '/console/providers/universign',
    '/console/providers/smtp/try', '/console/services/email', '/console/services/email?to=smtp', '/console/sessions', '/console/nothing',
    '/console/templates', '/console/templates/1', '/console/templates/1?format=HTML', '/console/templates/1/difference?from=1&to=1',
    '/console/templates/new?from=20', '/console/send', '/console/send?template=1', '/console/send?template=3&service=postal']

  /** Works with a page, and watches its requests and faults meanwhile. */
  async function visit (t: Test, options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ baseURL: url, ...options })
    const page = await context.newPage()
    const [faults, strangers]: [string[], string[]] = [[], []]
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('dialog', (dialog) => {
      faults.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(`${url}/`) || ownSchemes.includes(new URL(request.url()).protocol)
      if (!isOwn) strangers.push(request.url())
    })
    await work(page)
    await context.close()
    // What a browser says of an answer with a status from 400 on is no fault.
    t.same(faults.filter((fault) => !fault.startsWith('Failed to load resource')), [], 'no script runs and no rule of the pages is broken')
    t.same(strangers, [], 'nothing comes from another host')
  }

  async function signIn (page: Page): Promise<void> {
    await page.goto('/console/dispatches?status=failed')
    await page.fill('#email', admin.email)
    await page.fill('#password', admin.password)
    await page.click('main button')
  }

  for (const javaScriptEnabled of [true, false]) {
    await t.test(`a person configures, checks, switches, retries and leaves, ${javaScriptEnabled ? 'with' : 'without'} script`, (t) =>
      visit(t, { javaScriptEnabled, locale: 'en' }, async (page) => {
        const dispatchId = await rejected()
        await signIn(page)
        t.equal(new URL(page.url()).search, '?status=failed', 'back where the way began')
        await page.click(`a[href="/console/dispatches/${dispatchId}"]`)
        t.equal(await page.locator('dd', { hasText: text }).count() > 0, true, 'markup is shown as it was written')
        await page.click('form[action$="/retry"] button')
        await page.waitForURL(`**/console/dispatches/${dispatchId}`)
        await page.click('nav a[href="/console/providers"]')
        await page.click('.cards a[href="/console/providers/smtp"]')
        await page.fill('#f-host', 'smtp.example.org')
        await page.fill('#f-port', '99999')
        await page.click('form[action="/console/providers/smtp"] button')
        t.equal(await page.getAttribute('#f-port', 'aria-invalid'), 'true')
        t.equal(await page.inputValue('#f-host'), 'smtp.example.org')
        await page.fill('#f-port', '587')
        await page.fill('#f-password', 'another-password')
        await page.click('form[action="/console/providers/smtp"] button')
        t.equal(await page.textContent('[role=status]'), languages.en.settingsSaved)
        await page.click('form[action$="/check"] button')
        t.equal((await page.textContent('main [role=alert] p'))?.trim(), languages.en.check_cannot_be_checked)
        await page.goto('/console/services/email')
        await page.check('input[value=smtp]')
        await page.click('main button')
        await page.click('form[method=post][action="/console/services/email"] button')
        await page.waitForURL('**/console/providers')
        t.equal(await page.textContent('tr:has(th:text-is("email")) td'), 'smtp')
        await send('PUT', '/api/v1/company/defaults/email', { body: { providerName: 'simulator' } })
        await page.click('button[name=language]')
        t.equal(await page.textContent('h1'), languages.fr.providers, 'the same page in the other language')
        await page.click('form[action="/console/sign-out"] button')
        await page.waitForURL('**/console/sign-in')
        await page.goto('/console/providers')
        t.equal(new URL(page.url()).pathname, '/console/sign-in', 'signed out')
      }))
  }

  await t.test('times are those of the reader\'s zone, with UTC in their title; without script they are UTC', async (t) => {
    const { body: { createdAt } } = await send('GET', `/api/v1/dispatches/${String(doubtful.dispatchId)}`)
    const at = Date.parse(createdAt as string)
    const shownAs = (offset: number): string => new Date(at + offset).toISOString().slice(0, 16).replace('T', ' ')
    for (const javaScriptEnabled of [true, false]) {
      await visit(t, { javaScriptEnabled, locale: 'en', timezoneId: 'Asia/Kolkata' }, async (page) => {
        await signIn(page)
        await page.goto(`/console/dispatches/${String(doubtful.dispatchId)}`)
        const time = page.locator('dd time').first()
        t.equal(await time.textContent(), javaScriptEnabled ? `${shownAs(19_800_000)} GMT+5:30` : `${shownAs(0)} UTC`)
        t.equal(await time.getAttribute('title'), javaScriptEnabled ? `${shownAs(0)} UTC` : null)
      })
    }
  })

  await t.test('an admin copies a template, mends it, looks at it in a new tab and publishes it, without script', (t) =>
    visit(t, { javaScriptEnabled: false, locale: 'en' }, async (page) => {
      await signIn(page)
      await page.goto('/console/templates/20')
      await page.getByRole('link', { name: languages.en.copy }).click()
      const source = await page.inputValue('#f-source')
      await page.fill('#f-source', `${source}nonsense: 1\n`)
      await page.getByRole('button', { name: languages.en.templateCreate }).click()
      t.equal(await page.getAttribute('#f-source', 'aria-invalid'), 'true')
      t.equal(await page.inputValue('#f-source'), `${source}nonsense: 1\n`)
      await page.fill('#f-source', source)
      await page.selectOption('#f-format', 'HTML')
      const [tab] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('button', { name: languages.en.previewOpen }).click()
      ])
      await tab.waitForLoadState()
      t.equal(new URL(tab.url()).pathname, '/console/templates/new/preview')
      t.ok((await tab.textContent('body'))?.trim())
      await page.getByRole('button', { name: languages.en.templateCreate }).click()
      const { id } = (await send('GET', '/api/v1/templates?status=draft')).body.data[0]
      await page.goto(`/console/templates/${String(id)}`)
      await page.getByRole('button', { name: languages.en.publishFull.replace('{version}', '1') }).first().click()
      t.equal(await page.textContent('[role=status]'), languages.en.publishDone.replace('{version}', '1'))
    }))

  await t.test('a person fills in a template, adds a line, looks at the document and sends it, without script', (t) =>
    visit(t, { javaScriptEnabled: false, locale: 'en' }, async (page) => {
      const { en } = languages
      await signIn(page)
      await page.goto('/console/send')
      await page.selectOption('#f-template', '1')
      await page.getByRole('button', { name: en.sendOpen }).click()
      const lines = Number(await page.inputValue('input[name="data.lines:rows"]'))
      await page.locator('button[name=":add"][value="data.lines"]').click()
      const [first, last] = ['0', String(lines)].map((line) => page.locator(`[id="f-data.lines.${line}.description"]`))
      await last?.press('Enter')
      t.equal(await last?.getAttribute('aria-invalid'), 'true', 'the key Enter validates')
      await page.locator(`button[name=":remove"][value="data.lines.${String(lines)}"]`).click()
      await first?.fill('By hand')
      const [shown] = await Promise.all([
        page.waitForResponse('**/console/send/preview'),
        page.getByRole('button', { name: en.sendPreview }).click()
      ])
      t.equal(shown.headers()['content-type'], 'application/pdf')
      t.equal(await first?.inputValue(), 'By hand', 'the page stays beside the document')
      await page.getByRole('button', { name: en.sendDo }).click()
      await page.waitForURL('**/console/dispatches/*')
      t.equal(await page.locator('.badge', { hasText: en.status_succeeded }).count() > 0, true)
    }))

  await t.test('a page of another site cannot use the session: neither by a form nor in a frame', (t) =>
    visit(t, { locale: 'en' }, async (page) => {
      await signIn(page)
      const context = page.context()
      const other = await context.newPage()
      // Another host name of this machine is another site for a browser.
      await other.route('http://localhost:1/', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<iframe src="${url}/console"></iframe><form method="post" action="${url}/console/sign-out"><button>x</button></form>`
        }))
      await other.goto('http://localhost:1/')
      t.notOk(await other.frames()[1]?.$('nav'), 'the frame stays empty')
      const [answer] = await Promise.all([other.waitForResponse(`${url}/console/sign-out`), other.click('button')])
      t.equal(answer.status(), 403)
      await page.goto('/console')
      t.equal(await page.textContent('h1'), languages.en.home, 'still signed in')
    }))

  for (const [language, colorScheme, width] of [['en', 'light', 1280], ['fr', 'dark', 360]] as const) {
    await t.test(`every page is accessible (${language}, ${colorScheme}, ${String(width)} pixels wide)`, (t) =>
      visit(t, { locale: language, colorScheme, viewport: { width, height: 800 } }, async (page) => {
        await page.goto('/console/sign-in')
        await isAccessible(t, page, 'sign-in')
        await page.fill('#email', admin.email)
        await page.fill('#password', 'wrong')
        await page.click('main button')
        await isAccessible(t, page, 'a refused sign-in')
        await signIn(page)
        for (const path of pages) {
          await page.goto(path)
          t.equal(await page.getAttribute('html', 'lang'), language)
          await isAccessible(t, page, path)
          t.ok(await page.evaluate<number>('document.documentElement.scrollWidth') <= width, `${path} fits`)
        }
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
        t.equal(await page.evaluate('document.activeElement.id'), 'main', 'the keyboard goes past the menu')
      }))
  }
}

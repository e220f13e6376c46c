import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { editorScript } from '../../../../../plugins/console/browser/editor.ts'
import { languages as ofConsole, wordFor } from '../../../../../plugins/console/language/language.ts'
import { isAccessible, launchChromium, signInAt } from '../../../../../test/plugins/support/chromium.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { letter, letterYaml } from '../../../../../test/plugins/support/templates.ts'
import { contains, lacks } from '../../../../../test/support/matching.ts'
import { admin, startService } from '../../../../../test/support/service.ts'
import { wordsOf } from '../pages/words.ts'

const languages = { en: wordsOf(ofConsole.en), fr: wordsOf(ofConsole.fr) }
const { en } = languages
const service = await startService(t)
const { url, send } = service
const { open, signIn } = openConsole(service)
const browser = await launchChromium(t, { showsPdf: true })
const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ name: 'Own' }) })
const at = `/console/templates/${String(id)}/edit`
const editor = await editorScript('text')

await t.test('the editor is one script of at most 200 KB, which no other page loads', async (t) => {
  t.ok(gzipSync(editor.bytes).length < 200_000)
  const { status, headers } = await open(editor.path.replace('/console', ''), '')
  t.same([status, headers.get('content-type')], [200, 'text/javascript; charset=utf-8'])
  contains(t, headers.get('cache-control'), 'immutable')
  t.equal((await open('/editor/000000000000.js', '')).status, 404, 'that of another release')
  const cookie = await signIn(admin)
  contains(t, (await open(at.replace('/console', ''), cookie)).body, `data-editor="${editor.path}"`)
  for (const path of ['', '/templates', `/templates/${String(id)}`, '/send?template=1']) {
    lacks(t, (await open(path, cookie)).body, 'data-editor')
  }
  lacks(t, editor.bytes.toString(), /\beval\(|new Function|innerHTML/)
})

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else await inBrowser(browser)

async function inBrowser (browser: Browser): Promise<void> {
  type Options = { locale?: string, colorScheme?: 'light' | 'dark', viewport?: { width: number, height: number }, script?: string }

  /** Works with the page of the editor, in which no rule of the console may be broken meanwhile. */
  async function visit (t: Test, { script = '', ...options }: Options, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ baseURL: url, locale: 'en', ...options })
    const page = await context.newPage()
    await page.addInitScript(script)
    const faults: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !message.text().startsWith('Failed to load resource')) {
        faults.push(message.text())
      }
    })
    page.on('pageerror', (error) => faults.push(error.message))
    await signInAt(page, at, admin)
    await page.waitForSelector('.code .cm-content')
    await work(page)
    await context.close()
    t.same(faults, [], 'no rule of the pages is broken')
  }
  const source = (page: Page) => page.getByRole('textbox', { name: en.templateSource })

  await t.test('what is written in the editor is what the form sends, and its problems are marked at their places', (t) =>
    visit(t, {}, async (page) => {
      t.equal(await page.inputValue('#f-source'), letterYaml('Own'), 'as it was stored')
      await source(page).click()
      await page.keyboard.press('Control+End')
      await page.keyboard.type('nonsense: 1')
      t.equal(await page.inputValue('#f-source'), `${letterYaml('Own')}nonsense: 1`)
      await page.getByRole('button', { name: en.templateCheck }).click()
      await page.waitForSelector('#f-source-wrong')
      t.equal(await page.inputValue('#f-source'), `${letterYaml('Own')}nonsense: 1`, 'it stays as it was written')
      const line = letterYaml('Own').split('\n').length
      t.equal(await page.getAttribute('#f-source-wrong li', 'data-line'), String(line))
      await page.waitForSelector('.code .cm-lint-marker-error')
      t.equal(await page.locator('.code .cm-lintRange-error').textContent(), 'nonsense: 1')
      await hoverUntilShown(page, '.code .cm-lint-marker-error', '.code .cm-tooltip-lint')
      await source(page).click()
      await page.keyboard.press('Control+z')
      await page.keyboard.press('Control+End')
      await page.keyboard.press('Shift+Home')
      // A program selects, and types before the editor has noticed.
      await source(page).fill(letterYaml('Own'))
      await page.keyboard.press('Control+End')
      await page.keyboard.type('# By hand')
      await page.getByRole('button', { name: en.templateSave }).click()
      await page.waitForURL('**/templates/*?version=2&saved=1')
      t.equal((await send('GET', `/api/v1/templates/${String(id)}?version=2`)).body.source, `${letterYaml('Own')}# By hand`)
    }))

  for (const [locale, words] of Object.entries(languages)) {
    await t.test(`who ticks a service writes it into the source: ${locale}`, (t) =>
      visit(t, { locale }, async (page) => {
        await page.getByRole('group', { name: words.templateAlsoFor }).getByLabel(wordFor(words, 'service', 'sms'), { exact: true }).check()
        await page.getByRole('button', { name: words.templateCheck }).click()
        await page.waitForSelector('.notice.good')
        contains(t, await page.inputValue('#f-source'), 'alsoFor: [sms]\n')
        t.ok(await page.getByLabel(wordFor(words, 'service', 'sms'), { exact: true }).isChecked())
        await isAccessible(t, page, 'with a service chosen')
      }))
  }

  const older = {
    'without getComposedRanges': 'delete Selection.prototype.getComposedRanges',
    'with one that takes the roots alone': `Selection.prototype.getComposedRanges = (root) => {
      if (!(root instanceof ShadowRoot)) throw new TypeError('not a ShadowRoot')
      return []
    }`
  }
  for (const [name, script] of Object.entries(older)) {
    await t.test(`a browser ${name} types, and types over a selection`, (t) =>
      visit(t, { script }, async (page) => {
        await source(page).click()
        await page.keyboard.press('Control+End')
        await page.keyboard.type('ab')
        await page.keyboard.press('Shift+ArrowLeft')
        await page.keyboard.type('c')
        contains(t, await page.inputValue('#f-source'), /ac$/)
      }))
  }

  await t.test('the keyboard comes into the editor and out of it, and the label leads to it', (t) =>
    visit(t, {}, async (page) => {
      const focused = (): Promise<string | null> =>
        page.evaluate('document.activeElement.shadowRoot?.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')
      await page.locator('label[for=f-source]').click()
      t.equal(await focused(), en.templateSource)
      await page.keyboard.press('Tab')
      t.equal(await focused(), en.templateSchema)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      t.equal(await focused(), en.templateSave)
      await page.keyboard.press('Shift+Tab')
      t.equal(await focused(), en.templateSample)
      t.equal(await page.locator('#keys').isVisible(), true, 'what the keys do is said')
    }))

  await t.test('the document stands beside its texts while they are written, in every format; what is wrong is marked meanwhile', (t) =>
    visit(t, {}, async (page) => {
      const state = page.locator('.live [role=status]')
      const shows = (text: string): Promise<void> => page.locator('.live iframe:not(.waiting)').contentFrame().getByText(text).waitFor()
      await page.locator('.live[data-title] [data-state=ready]').waitFor()
      const requests: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST') requests.push(request.url())
      })
      const length = await page.evaluate<number>('history.length')
      await page.selectOption('#f-format', 'HTML')
      await shows('Dear Ada')
      await page.getByRole('textbox', { name: en.templateSample }).getByText('Ada').dblclick()
      await page.keyboard.type('Grace')
      await shows('Dear Grace')
      t.equal(requests.length, 2, 'one preview for what was typed at a stretch')
      await page.keyboard.type('{')
      await page.keyboard.press('Control+End')
      await page.keyboard.type('!')
      await page.locator('.live [data-state=refused]').waitFor()
      t.equal(await state.textContent(), en.liveRefused)
      contains(t, await page.textContent('#f-sample-wrong'), /^Line \d+, column \d+: /)
      await page.waitForSelector('.code .cm-lint-marker-error')
      await shows('Dear Grace')
      await page.keyboard.press('Backspace')
      await page.locator('.live [data-state=ready]').waitFor()
      t.equal(await page.locator('#f-sample-wrong').count(), 0)
      await page.selectOption('#f-format', 'TEXT')
      await shows('Dear Grace')
      await page.selectOption('#f-format', 'DOCX')
      contains(t, await page.locator('.live [download]').textContent(), /^Own\.docx \(\d+(\.\d)? kB\)$/)
      const [saved] = await Promise.all([page.waitForEvent('download'), page.locator('.live [download]').click()])
      t.equal(saved.suggestedFilename(), 'Own.docx')
      await page.selectOption('#f-format', 'PDF')
      const [answer] = await Promise.all([page.waitForResponse('**/live'), page.locator('.live iframe:not(.waiting)').waitFor()])
      t.equal(answer.headers()['content-type'], 'application/pdf')
      t.equal(await page.evaluate('history.length'), length, 'the way back leads to the page before')
      t.equal(new URL(page.url()).pathname, at)
      // As in a browser without a viewer, which saves a PDF and tells nobody.
      await page.evaluate('Object.defineProperty(navigator, "pdfViewerEnabled", { value: false })')
      await page.selectOption('#f-format', '')
      contains(t, await page.locator('.live [download]').textContent(), /^Own\.pdf \(\d+(\.\d)? kB\)$/)
      t.equal(await page.locator('.live iframe').count(), 0)
      await page.selectOption('#f-format', 'HTML')
      await shows('Dear Grace')
    }))

  for (const [locale, colorScheme, width] of [['en', 'light', 1280], ['fr', 'dark', 360]] as const) {
    await t.test(`it is accessible (${locale}, ${colorScheme}, ${String(width)} pixels wide)`, (t) =>
      visit(t, { locale, colorScheme, viewport: { width, height: 900 } }, async (page) => {
        await page.locator('.live iframe:not(.waiting)').waitFor()
        await isAccessible(t, page, 'as it opens')
        await page.getByRole('textbox', { name: languages[locale].templateSource }).click()
        await page.keyboard.press('Control+End')
        await page.keyboard.press('Enter')
        await page.keyboard.type('nonsense: 1')
        await page.getByRole('button', { name: languages[locale].templateCheck }).click()
        await page.waitForSelector('.code .cm-lint-marker-error')
        await page.getByRole('textbox', { name: languages[locale].templateSource }).click()
        await page.keyboard.press('Control+f')
        await page.waitForSelector('.code .cm-search')
        await isAccessible(t, page, 'with a problem and a search')
        t.ok(await page.evaluate<number>('document.documentElement.scrollWidth') <= width, 'it fits')
      }))
  }
}

/** Points at `mark` until `tooltip` is there: a slow page draws the mark anew under a pointer that rests. */
async function hoverUntilShown (page: Page, mark: string, tooltip: string): Promise<void> {
  for (let attempt = 0; attempt < 30 && !await page.locator(tooltip).isVisible(); attempt++) {
    await page.mouse.move(0, 0)
    await page.locator(mark).hover()
    await page.waitForTimeout(2_000)
  }
  await page.waitForSelector(tooltip)
}

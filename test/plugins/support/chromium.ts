import axe from 'axe-core'
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Login } from '../../support/service.ts'

/** Where Chromium may be. Without windows it takes half the time of a processor, and shows no PDF. */
const [windowless, windowed] = [['/usr/bin/chromium-headless-shell'], ['/usr/bin/chromium', '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']]

/** How long a step of a test may take on a busy machine, in milliseconds. */
const timeoutMs = 120_000

/** Starts Chromium for a test file, where the machine has one. `showsPdf`: one that shows PDF as people's browsers do. */
export async function launchChromium (
  t: Test,
  { args = [], showsPdf = false }: { args?: readonly string[], showsPdf?: boolean } = {}
): Promise<Browser | undefined> {
  const executablePath = (showsPdf ? windowed : [...windowless, ...windowed]).find((place) => existsSync(place))
  // As root, Chromium starts without its sandbox only. It loads the pages of the test, and nothing else.
  const browser = executablePath === undefined
    ? undefined
    : await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...args], timeout: timeoutMs })
  browser?.on('context', (context) => {
    context.setDefaultTimeout(timeoutMs)
  })
  t.teardown(() => browser?.close())
  return browser
}

/** Opens the menu of a page where it is narrow, and the menu is folded. */
export async function openMenu (page: Page): Promise<void> {
  const menu = page.locator('header .menu:not([open]) > summary')
  if (await menu.isVisible()) await menu.click()
}

/** Opens a page of the console and signs in there. */
export async function signInAt (page: Page, path: string, { email, password }: Login): Promise<void> {
  await page.goto(path)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
}

/** No other host: what a page has in itself, and Chromium's viewer of PDF files. */
const ownSchemes = ['data:', 'chrome:', 'chrome-extension:']

/**
 * Collects what goes wrong on all pages of a context, each with its page: errors of scripts, breaches of a content security policy and
 * other warnings of the browser, dialogs, and requests to another host.
 */
export function watchFaults (context: BrowserContext, url: string): string[] {
  const faults: string[] = []
  const note = (page: Page | null | undefined, text: string): void => void faults.push(`${page?.url() ?? 'no page'}: ${text}`)
  context.on('console', (message) => {
    // What a browser says of an answer with a status from 400 on is no fault.
    const isOfAnswer = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isOfAnswer) note(message.page(), message.text())
  })
  context.on('weberror', (thrown) => note(thrown.page(), thrown.error().message))
  context.on('dialog', (dialog) => {
    note(dialog.page(), `dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('request', (request) => {
    const isOwn = request.url().startsWith(`${url}/`) || ownSchemes.includes(new URL(request.url()).protocol)
    if (!isOwn) note(undefined, `asks ${request.url()}`)
  })
  return faults
}

/** Pages are looked at in each language; between the two each theme, and a usual and the narrowest screen, gets all rules of axe. */
export const views = [
  { locale: 'en', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { locale: 'fr', colorScheme: 'dark', viewport: { width: 360, height: 800 } }
] as const

/** The rules of axe about colours. */
const ofColours = ['color-contrast', 'link-in-text-block']

/** The page is right for everybody: axe finds no violation, in the other theme neither, and the narrowest screen shows all of its width. */
export async function isRight (t: Test, page: Page, name: string): Promise<void> {
  await isAccessible(t, page, name)
  const [size, isDark] = [page.viewportSize(), await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')]
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' })
  await isAccessible(t, page, `${name}, in the other theme`, ofColours)
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
  const { width: narrowest, height } = views[1].viewport
  await page.setViewportSize({ width: narrowest, height })
  t.ok(await page.evaluate<number>('document.documentElement.scrollWidth') <= narrowest, `${name} fits`)
  if (size !== null) await page.setViewportSize(size)
}

/**
 * The page has no violation that axe finds; `rules`: of these alone. Its frames have documents of another origin, which would not answer
 * axe.
 */
export async function isAccessible (t: Test, page: Page, name: string, rules?: readonly string[]): Promise<void> {
  const options = { resultTypes: ['violations'], selectors: false, iframes: false, ...rules && { runOnly: rules } }
  if (!await page.evaluate<boolean>('"axe" in window')) await page.evaluate(axe.source)
  const violations = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' ')))`)
  t.same(violations, [], name)
}

import axe from 'axe-core'
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
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

/** How often Tab is pressed until it is plain that something cannot be reached. */
const maxTabs = 500

/** What the keyboard stops at, as far as it can be told without pressing a key; only how many to press without looking comes of it. */
const stops = 'a[href], button, input:not([type=hidden]), select, textarea, summary, iframe, [tabindex="0"]'

/** What an element may have by which it is told apart. */
type Stop = { type?: string, name?: string, form?: unknown }

/** Presses Tab, or Shift+Tab back, until the focus is on something, or on another choice of the same radio buttons. */
async function reach (target: Locator): Promise<void> {
  const page = target.page()
  const isReached = (): Promise<boolean> =>
    target.evaluate((element) => {
      const [desired, at] = [element, element.ownerDocument.activeElement] as unknown as [Stop, Stop | null]
      const isRadio = desired.type === 'radio' && at?.type === 'radio'
      return at === desired || isRadio && at.name === desired.name && at.form === desired.form
    })
  const away = await target.evaluate((element, selector) => {
    const all = [...element.ownerDocument.querySelectorAll(selector)].filter((one) => one.checkVisibility())
    return all.indexOf(element) - all.indexOf(element.ownerDocument.activeElement ?? element)
  }, stops)
  const key = away < 0 ? 'Shift+Tab' : 'Tab'
  for (let ahead = Math.abs(away) - 5; ahead > 0; ahead--) await page.keyboard.press(key)
  for (let pressed = 0; !await isReached(); pressed++) {
    if (pressed === maxTabs) throw new Error(`The keyboard does not reach ${String(target)}.`)
    await page.keyboard.press(key)
  }
}

type Hand = 'click' | 'fill' | 'check' | 'selectOption'

/** What a hand with a mouse does, done by keys. */
const byKeys: Readonly<Record<Hand, (target: Locator, value: string) => Promise<void>>> = {
  async click (target) {
    await reach(target)
    // Of the locator, so that it waits for the page to which the key leads.
    await target.press('Enter')
  },
  async fill (target, value) {
    const { keyboard } = target.page()
    await reach(target)
    await keyboard.press('Control+A')
    await (value === '' ? keyboard.press('Delete') : keyboard.insertText(value))
  },
  async check (target) {
    const { keyboard } = target.page()
    await reach(target)
    const isFocused = (): Promise<boolean> => target.evaluate((element) => element.ownerDocument.activeElement === element)
    while (!await isFocused()) await keyboard.press('ArrowDown')
    if (!await target.isChecked()) await keyboard.press('Space')
  },
  async selectOption (target, value) {
    const { keyboard } = target.page()
    await reach(target)
    await keyboard.press('Home')
    const options = await target.locator('option').count()
    for (let index = 0; await target.inputValue() !== value; index++) {
      if (index === options) throw new Error(`${String(target)} has no "${value}".`)
      await keyboard.press('ArrowDown')
    }
  }
}
const isHand = (name: string | symbol): name is Hand => Object.hasOwn(byKeys, name)
const isLocator = (value: unknown): value is Locator =>
  typeof value === 'object' && value !== null && 'getByRole' in value && 'nth' in value

/** A page that is used without a mouse: what a test clicks, fills in, ticks or chooses is reached by Tab. */
export function withoutMouse (page: Page): Page {
  const locatorOf = (locator: Locator): Locator => handed(locator, () => locator)
  /** `at`: what an act is done to; its arguments are those of the locator without the first, where that names it. */
  function handed<Of extends object> (of: Of, at: (selector: string) => Locator): Of {
    return new Proxy(of, {
      get (target, name) {
        if (isHand(name)) {
          const act = byKeys[name]
          return target === page
            ? (selector: string, value = '') => act(at(selector), value)
            : (value = '') => act(at(''), value)
        }
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          const answer: unknown = Reflect.apply(value, target, given)
          if (isLocator(answer)) return locatorOf(answer)
          return name === 'all' ? (answer as Promise<Locator[]>).then((all) => all.map(locatorOf)) : answer
        }
      }
    })
  }
  return handed(page, (selector) => page.locator(selector).first())
}

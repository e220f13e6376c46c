import axe from 'axe-core'
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Login } from '../../support/service.ts'

/** Where Chromium may be. Without windows it takes half the time of a processor, and shows no PDF. */
const [windowless, windowed] = [['/usr/bin/chromium-headless-shell'], ['/usr/bin/chromium', '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']]

/** How long a step of a test may take on a busy machine, in milliseconds. */
const patience = 120_000

/** Starts Chromium for a test file, where the machine has one. `showsPdf`: one that shows PDF as people's browsers do. */
export async function launchChromium (
  t: Test,
  { args = [], showsPdf = false }: { args?: readonly string[], showsPdf?: boolean } = {}
): Promise<Browser | undefined> {
  const executablePath = (showsPdf ? windowed : [...windowless, ...windowed]).find((place) => existsSync(place))
  // As root, Chromium starts without its sandbox only. It loads the pages of the test, and nothing else.
  const browser = executablePath === undefined
    ? undefined
    : await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...args], timeout: patience })
  browser?.on('context', (context) => {
    context.setDefaultTimeout(patience)
  })
  t.teardown(() => browser?.close())
  return browser
}

/** Opens a page of the console and signs in there. */
export async function signInAt (page: Page, path: string, { email, password }: Login): Promise<void> {
  await page.goto(path)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
}

/** The page has no violation that axe finds. Its frames have documents of another origin, which would not answer axe. */
export async function isAccessible (t: Test, page: Page, name: string): Promise<void> {
  const options = '{ resultTypes: ["violations"], selectors: false, iframes: false }'
  const violations = await page.evaluate(`${axe.source}; axe.run(document, ${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' ')))`)
  t.same(violations, [], name)
}

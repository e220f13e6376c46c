import axe from 'axe-core'
import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']

/** Where Chromium is on this machine; undefined where it is not. */
export const chromiumPath = places.find((place) => existsSync(place))

/** The page has no violation that axe finds. */
export async function isAccessible (t: Test, page: Page, name: string): Promise<void> {
  const violations = await page.evaluate(`${axe.source}; axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' ')))`)
  t.same(violations, [], name)
}

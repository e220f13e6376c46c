import type { Page } from 'playwright-core'
import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { until } from '../core/work/support.ts'
import { matches } from '../support/matching.ts'
import { admin, operator, startService } from '../support/service.ts'
import { isAccessible, launchChromium, signInAt } from './support/chromium.ts'

const { en } = languages
const browser = await launchChromium(t)
if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else {
  const { url, send } = await startService(t)
  const pageFor = async (path: string, user: typeof admin): Promise<Page> => {
    const page = await browser.newPage({ baseURL: url, locale: 'en', viewport: { width: 1280, height: 1600 } })
    await signInAt(page, path, user)
    return page
  }

  await t.test('a form that is pressed twice is sent once', async (t) => {
    const page = await pageFor('/console/companies', operator)
    const company = { name: 'Pressed twice', credits: '1', email: 'ada@twice.example.com', password: 'correct horse battery' }
    for (const [name, value] of Object.entries(company)) await page.fill(`#f-${name}`, value)
    const { x, y } = await page.getByRole('button', { name: en.companyCreate }).boundingBox() ?? { x: 0, y: 0 }
    await page.mouse.click(x + 20, y + 10)
    await page.waitForTimeout(60)
    await page.mouse.click(x + 20, y + 10)
    await page.waitForURL(/created/)
    const { body: { data } } = await send('GET', '/api/v1/companies?limit=100', {}, operator)
    t.equal(data.filter(({ name }: { name: string }) => name === company.name).length, 1)
    await page.close()
  })

  await t.test('the search opens by a key over any page, and is used without a mouse', async (t) => {
    const page = await pageFor('/console', admin)
    const dialog = page.locator('dialog.palette')
    // Its script is there.
    await page.waitForLoadState('load')
    await page.keyboard.press('/')
    await page.keyboard.type('simulator')
    await dialog.locator('a[href$="/providers/simulator"]').waitFor()
    matches(t, await dialog.locator('[role=status]').textContent(), /\d/)
    await isAccessible(t, page, 'the search')
    await page.keyboard.press('ArrowDown')
    t.equal(await page.evaluate('document.activeElement.tagName'), 'A')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/providers\/simulator$/)
    await page.keyboard.press('Control+k')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.close()
  })

  await t.test('what was said of an action stays when a page that follows changes is renewed', async (t) => {
    const text = { sms: { phoneNumber: '+15005550002', message: 'Hello' } }
    const { body: { dispatchId } } = await send('POST', '/api/sms?async=true', { body: text })
    const waitsLonger = async (): Promise<boolean> => {
      const { nextTryAt } = (await send('GET', `/api/v1/dispatches/${String(dispatchId)}`)).body
      // The second delay is 8 to 12 s, the first one 2.4 s at most.
      return nextTryAt !== undefined && Date.parse(nextTryAt) - Date.now() > 5_000
    }
    await until('its second try has failed too', waitsLonger)
    const page = await pageFor('/console/dispatches?status=queued', admin)
    await page.getByRole('button', { name: en.releaseAny }).click()
    await page.getByText(en.noneFiltered).waitFor()
    t.equal((await page.locator('main > .notice').textContent())?.trim(), en.releaseDoneHere.replace('{n}', '1'))
    await page.close()
  })
}

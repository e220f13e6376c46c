import fc from 'fast-check'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { languages, wordFor } from '../../plugins/console/language/language.ts'
import { until } from '../core/work/support.ts'
import { contains, lacks } from '../support/matching.ts'
import { admin, startService } from '../support/service.ts'
import { isAccessible, launchChromium, signInAt } from './support/chromium.ts'

const { en } = languages
const browser = await launchChromium(t)
if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else await whileTyping()

async function whileTyping (): Promise<void> {
  const { url, send, company } = await startService(t)
  const { admin: other } = await company('other')
  const { body: { sample } } = await send('GET', '/api/v1/templates/20')

  /** The form of a text message, whose preview is a text, in a page of its own. */
  async function typed (t: Test, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser!.newContext({ baseURL: url, locale: 'en', viewport: { width: 1280, height: 800 } })
    const [page, faults]: [Page, string[]] = [await context.newPage(), []]
    page.on('console', (message) => faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(error.message))
    await signInAt(page, '/console/send?template=20', admin)
    // The script works once it has asked for the document.
    await page.locator('iframe:not([hidden])').waitFor()
    await work(page)
    await context.close()
    t.same(faults.filter((fault) => !fault.startsWith('Failed to load resource')), [])
    t.same((await send('GET', '/api/v1/dispatches')).body.data, [], 'nothing is sent')
  }
  await t.test('what is to be pasted elsewhere is copied, or selected where the browser refuses; without a clipboard nothing is offered',
    async (t) => {
      const settings = { secretKey: 'sk_live_0123456789' }
      t.equal((await send('PUT', '/api/v1/company/providers/stripe', { body: { settings } })).status, 200)
      const context = await browser!.newContext({ baseURL: url, locale: 'en', permissions: ['clipboard-write'] })
      const [page, faults]: [Page, Error[]] = [await context.newPage(), []]
      page.on('pageerror', (error) => faults.push(error))
      await signInAt(page, '/console/providers/stripe', admin)
      const place = page.locator('#url-invoicing')
      const copy = page.getByRole('button', { name: `${en.copyText}: ${wordFor(en, 'service', 'invoicing')}`, exact: true })
      await copy.click()
      await page.getByRole('button', { name: `${en.copyDone}: ${wordFor(en, 'service', 'invoicing')}`, exact: true }).waitFor()
      // No page may read the clipboard (Permissions-Policy); a person may paste what is in it.
      await page.evaluate('document.body.append(Object.assign(document.createElement("textarea"), { id: "pasted" }))')
      await page.locator('#pasted').focus()
      await page.keyboard.press('Control+V')
      t.equal(await page.locator('#pasted').inputValue(), await place.inputValue())
      await copy.waitFor()
      await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))')
      await copy.click()
      await page.waitForFunction('document.activeElement.id === "url-invoicing"')
      t.equal(await page.evaluate('getSelection().toString()'), await place.inputValue())
      await page.addInitScript('delete Navigator.prototype.clipboard')
      await page.reload()
      t.ok(await place.isVisible())
      t.equal(await page.locator('main button.copy').count(), 0)
      t.same(faults, [])
      await context.close()
    })

  const field = '[id="f-data.sender"]'
  const phone = '[id="f-request.phoneNumber"]'
  const reported = '.told[role=status]'
  const draftHas = async (text: string): Promise<boolean> => {
    const { body: { data: [draft] } } = await send('GET', '/api/v1/drafts')
    const { body: { request } } = await send('GET', `/api/v1/drafts/${String(draft.id)}`)
    return JSON.stringify(request).includes(text)
  }
  const document = (page: Page): Promise<string | null> => page.frameLocator('iframe:not([hidden])').locator('body').textContent()

  await t.test('what is wrong stands beside its field after a pause; the focus and what was typed stay', (t) =>
    typed(t, async (page) => {
      await page.locator(reported, { hasNotText: /./ }).waitFor({ state: 'attached' })
      await page.fill(phone, 'nowhere')
      await page.locator(`${phone}[aria-invalid]`).waitFor()
      t.equal(await page.inputValue(phone), 'nowhere')
      await page.fill(phone, '+33612345678')
      await page.fill(field, '')
      await page.locator(`${field}[aria-invalid]`).waitFor()
      t.equal(await page.locator(`${phone}[aria-invalid]`).count(), 0)
      t.equal(await page.evaluate('document.activeElement.id'), 'f-data.sender')
      t.equal(await page.locator('main [role=alert]').count(), 0, 'nobody is interrupted')
      contains(t, await page.textContent(reported) ?? '', en.sendNotYet)
      await isAccessible(t, page, 'a form with what is wrong')
      await page.keyboard.type('Grace')
      await page.locator(`${field}:not([aria-invalid])`).waitFor()
      t.equal(await page.inputValue(field), 'Grace')
      t.equal(await page.evaluate('document.activeElement.selectionStart'), 5, 'the caret stays')
      contains(t, await page.locator('pre').first().textContent() ?? '', 'Grace', 'the code follows')
      await page.locator(`${reported} table`).waitFor()
      await isAccessible(t, page, 'a form beside which stands what it will do')
    }))

  /** Until the form was asked about with a text in it. The script is told of the answer before this is. */
  const checked = (page: Page, text: string): Promise<unknown> =>
    page.waitForEvent('requestfinished', (request) => request.url().endsWith('/send/check') && request.postData()?.includes(text) === true)

  for (const width of [390, 1280]) {
    await t.test(`a group and a line that were empty stay under who fills them in, on a screen of ${String(width)} px`, (t) =>
      typed(t, async (page) => {
        await page.setViewportSize({ width, height: 800 })
        await page.goto('/console/send?template=1')
        await page.locator('button[name=":add"][value="data.lines"]').click()
        const focused = (): Promise<[string, string, boolean]> =>
          page.evaluate('(({ id, value, parentElement }) => [id, value, parentElement.checkVisibility()])(document.activeElement)')
        for (const [name, typed] of [['request.from.dispatchId', '0d0d'], ['data.lines.12.description', 'Travel']] as const) {
          const field = page.locator(`[id="f-${name}"]`)
          if (!await field.isVisible()) await page.locator(`details:has([name="${name}"]) > summary`).last().click()
          await field.focus()
          for (const [more, whole] of [[typed, typed], ['-14', `${typed}-14`]] as const) {
            await Promise.all([checked(page, whole), page.keyboard.type(more)])
            t.same(await focused(), [`f-${name}`, whole, true])
          }
        }
        // What its reader has folded stays so while they type elsewhere.
        await page.evaluate('document.querySelector(\'details:has([name="data.seller.name"])\').open = false')
        await Promise.all([checked(page, 'Thanks'), page.fill('[id="f-data.notes"]', 'Thanks')])
        t.equal(await page.locator('details[open]:has([name="data.seller.name"])').count(), 0)
      }))
  }

  await t.test('what was typed is kept when its writer goes before the pause is over', (t) =>
    typed(t, async (page) => {
      await page.fill(phone, '+33600000001')
      await page.goto('/console')
      await until('the draft has it', () => draftHas('+33600000001'))
    }))

  await t.test('so is what was typed last in a form that is too large to be sent on leaving, by the next page', (t) =>
    typed(t, async (page) => {
      const type = (place: string, text: string): Promise<void> =>
        page.evaluate(`{
          const field = document.querySelector('${place}')
          field.value = '${text}'
          field.dispatchEvent(new Event('input', { bubbles: true }))
        }`)
      await type('[id="f-data.message"]', 'x'.repeat(70_000))
      await until('the draft has it', () => draftHas('x'.repeat(70_000)))
      await type(phone, '+33600000008')
      await page.goto('/console/drafts')
      await until('the draft has it', () => draftHas('+33600000008'))
      t.equal(await page.evaluate('sessionStorage.length'), 0)
      await page.goBack()
      await page.locator('iframe:not([hidden])').waitFor()
      await type(phone, '+33600000007')
      await page.evaluate('dispatchEvent(new Event("pagehide"))')
      t.equal(await page.evaluate('sessionStorage.length'), 1)
      await until('nothing is kept', async () => await page.evaluate('sessionStorage.length') === 0)
      t.equal(await draftHas('+33600000007'), true, 'what the service has is kept no more')
    }))

  await t.test('what could not be sent more than a minute ago is not sent: the draft may be newer', (t) =>
    typed(t, async (page) => {
      const late = { page: '', reader: '', fields: 'x=y', sent: false, waits: false, address: '/console/send/check' }
      await page.evaluate(`sessionStorage.setItem('typed', JSON.stringify({ ...${JSON.stringify(late)}, at: Date.now() - 61_000 }))`)
      const requested: string[] = []
      page.on('request', (request) => requested.push(new URL(request.url()).pathname))
      await page.goto('/console/drafts')
      await until('nothing is kept', async () => await page.evaluate('sessionStorage.length') === 0)
      t.same(requested.filter((path) => path === '/console/send/check'), [])
    }))

  await t.test('what was typed is there again after F5 at once, and after a sign-in that an ended session has asked for', (t) =>
    typed(t, async (page) => {
      // No frame has the page of the sign-in, which Chromium would say.
      await page.route('**/console/send/preview', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
      await page.fill(phone, '+33600000004')
      await page.reload()
      await page.waitForFunction(`document.querySelector('${phone}').value === '+33600000004'`)
      for (const [act, number] of [['send', '+33600000005'], ['leave', '+33600000006']] as const) {
        const [form, cookies] = [page.url(), await page.context().cookies()]
        await page.context().clearCookies({ name: '__Host-console' })
        await Promise.all([page.waitForResponse('**/console/sign-in*'), page.fill(phone, number)])
        if (act === 'send') await page.getByRole('button', { name: en.sendDo, exact: true }).click()
        else await page.goto('/console/dispatches')
        await page.waitForURL('**/console/sign-in*')
        await page.reload()
        await page.context().addCookies(cookies)
        await page.goto('/console/drafts')
        await page.goto(form)
        await page.waitForFunction(`document.querySelector('${phone}').value === '${number}'`)
        await until('the draft has it', () => draftHas(number))
        t.equal(await page.evaluate('sessionStorage.length'), 0)
      }
      // Somebody else who signs in there, in the same tab, does not see it.
      await page.context().clearCookies({ name: '__Host-console' })
      await page.fill(phone, '+33600000007')
      await page.getByRole('button', { name: en.sendDo, exact: true }).click()
      await page.waitForURL('**/console/sign-in*')
      await page.fill('#email', other.email)
      await page.fill('#password', other.password)
      await page.press('#password', 'Enter')
      await page.waitForURL('**/console/send?*')
      t.not(await page.inputValue(phone), '+33600000007')
    }))

  await t.test('it is kept by a page that is left without a word, too, and not where another form is sent meanwhile', (t) =>
    typed(t, async (page) => {
      const watch = (): Promise<void> =>
        page.evaluate(`{
        addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)
        const own = navigator.sendBeacon.bind(navigator)
        navigator.sendBeacon = (...given) => {
          sessionStorage.setItem('kept', Number(sessionStorage.getItem('kept')) + 1)
          return own(...given)
        }
      }`)
      const kept = (): Promise<string | null> => page.evaluate('sessionStorage.getItem("kept")')
      await watch()
      await page.fill(phone, '+33600000002')
      await page.goto('/console')
      t.equal(await kept(), '1')
      await page.goto('/console/send?template=20')
      await watch()
      await page.fill(phone, '+33600000003')
      await page.evaluate(`{
        const other = Object.assign(document.createElement('form'), { action: '/console/drafts' })
        document.body.append(other)
        other.requestSubmit()
      }`)
      await page.waitForURL('**/console/drafts*')
      t.equal(await kept(), '1')
    }))

  await t.test('the document beside the form follows, and stays while the data are wrong; the way back does not lead through it', (t) =>
    typed(t, async (page) => {
      const before = await page.evaluate('history.length')
      await page.frameLocator('iframe:not([hidden])').locator('body', { hasText: sample.sender as string }).waitFor()
      await page.fill(field, '')
      await page.locator(`${field}[aria-invalid]`).waitFor()
      contains(t, await document(page) ?? '', sample.sender as string)
      await page.fill(field, 'Grace Hopper')
      await page.frameLocator('iframe:not([hidden])').locator('body', { hasText: 'Grace Hopper' }).waitFor()
      t.equal(await page.locator('iframe').count(), 1)
      t.equal(await page.evaluate('history.length'), before)
      await page.getByRole('button', { name: en.sendPreview }).click()
      t.equal(page.context().pages().length, 1, 'the button for it still works')
      t.equal(await page.evaluate('document.activeElement.textContent'), en.sendPreview)
    }))

  await t.test('a browser that shows no PDF saves one when the button is pressed, and not while somebody types', (t) =>
    typed(t, async (page) => {
      const made: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/send/preview')) made.push(request.url())
      })
      await page.addInitScript('Object.defineProperty(navigator, "pdfViewerEnabled", { value: false })')
      await page.goto('/console/send?template=1')
      await page.fill('[id="f-data.notes"]', 'Grace')
      await page.locator(reported, { hasText: /./ }).waitFor()
      t.same(made, [])
      await page.getByRole('button', { name: en.sendPreview }).click()
      while (made.length === 0) await page.waitForTimeout(50)
    }))

  await t.test('a refused form says so in its title, and leads to what is wrong', (t) =>
    typed(t, async (page) => {
      const focused = (): Promise<string> => page.evaluate('document.activeElement.id || document.activeElement.className')
      await page.fill(field, '')
      await page.getByRole('button', { name: en.sendDo }).click()
      await page.waitForFunction('document.title.startsWith("Problem: ")')
      t.equal(await focused(), 'notice bad')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      t.equal(await focused(), 'f-data.sender')
    }))

  await t.test('the focus begins in the first field of the sign-in, and stays in the one that was wrong', async (t) => {
    const page = await browser!.newPage({ baseURL: url, locale: 'en' })
    const focused = (): Promise<string> => page.evaluate('document.activeElement.id')
    await page.goto('/console/sign-in')
    t.equal(await focused(), 'email')
    await signInAt(page, '/console/sign-in', { ...admin, password: 'wrong' })
    await page.waitForFunction('document.title.startsWith("Problem: ")')
    t.equal(await focused(), 'password')
    await page.close()
  })

  await t.test('the last answer counts', (t) =>
    typed(t, async (page) => {
      const held: (() => Promise<void>)[] = []
      await page.route('**/console/send/check', async (route) => {
        if (held.length > 0) return route.continue()
        const answer = await route.fetch()
        held.push(() => route.fulfill({ response: answer }))
      })
      const answers: string[] = []
      page.on('requestfinished', (request) => {
        if (request.url().endsWith('/send/check')) answers.push(request.postData() ?? '')
      })
      await page.fill(field, '')
      while (held.length === 0) await page.waitForTimeout(50)
      await page.fill(field, 'Grace')
      await page.locator(reported, { hasText: en.sendValid }).waitFor()
      await held[0]?.()
      while (answers.length < 2) await page.waitForTimeout(50)
      // The script is told of an answer before this is.
      t.equal(await page.locator(`${field}[aria-invalid]`).count(), 0)
      contains(t, await page.textContent(reported) ?? '', en.sendValid)
    }))

  await t.test('a form that cannot be checked stays as it is', (t) =>
    typed(t, async (page) => {
      await page.route('**/console/send/check',
        (route) => route.fulfill({ status: 503, contentType: 'text/html', body: '<main>Away</main>' }))
      const [answer] = await Promise.all([page.waitForResponse('**/console/send/check'), page.fill(field, 'Grace')])
      await answer.finished()
      t.equal(await page.inputValue(field), 'Grace')
      lacks(t, await page.textContent('main') ?? '', 'Away')
    }))

  await t.test('a browser whose clock and zone are others says which time is meant, and reads when it is sent', async (t) => {
    const context = await browser!.newContext({ baseURL: url, locale: 'en', timezoneId: 'Asia/Tokyo' })
    const page = await context.newPage()
    await signInAt(page, '/console/sessions', admin)
    await page.clock.install({ time: Date.now() + 3_600_000 })
    await page.goto('/console/send?template=20')
    await page.click('details:has([name=":sendAt"]) > summary')
    const day = Temporal.Now.plainDateISO('UTC').add({ days: 2 }).toString()
    await page.fill('[name=":sendAt"]', `${day}T10:00`)
    await page.press('[name=":sendAt"]', 'Tab')
    t.equal(await page.inputValue('[name=":timeZone"]'), 'Asia/Tokyo')
    await page.click('button[formaction="/console/send/validate"]:visible')
    const sent = page.locator('.notice time')
    t.equal(await sent.getAttribute('datetime'), `${day}T01:00:00.000Z`)
    contains(t, await sent.textContent() ?? '', `${day} 10:00 GMT+9`)
    await context.close()
  })

  await t.test('Back, F5, a second tab, a double press and a cut answer send a form once', async () => {
    const acts = ['send', 'press twice', 'back', 'reload', 'second tab', 'cut'] as const
    const count = async (): Promise<number> => (await send('GET', '/api/v1/dispatches?service=sms&limit=100')).body.data.length
    const context = await browser!.newContext({ baseURL: url, locale: 'en' })
    let page = await context.newPage()
    await signInAt(page, '/console/sessions', admin)
    context.setDefaultTimeout(10_000)
    const press = async (...times: number[]): Promise<void> => {
      const button = page.getByRole('button', { name: en.sendDo, exact: true })
      if (await button.count() === 0) return
      // A navigation that is cut ends the wait for it, too.
      await Promise.allSettled([
        page.waitForResponse('**/console/send/dispatch').then((answer) => answer.finished()),
        button.click({ clickCount: times.length })
      ])
      await page.waitForLoadState()
    }
    const another = async (address: string): Promise<Page> => {
      const opened = await context.newPage()
      await opened.goto(address)
      return opened
    }
    await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...acts), { minLength: 1, maxLength: 6 }), async (chosen) => {
      const before = await count()
      page = await another('/console/send?template=20')
      const form = page.url()
      for (const act of ['send', ...chosen] as const) {
        if (act === 'send') await press(1)
        else if (act === 'press twice') await press(1, 2)
        else if (act === 'back') await page.goBack().catch(() => null)
        else if (act === 'reload') await page.reload().catch(() => null)
        else if (act === 'second tab') page = await another(form)
        else {
          page = await another(form)
          const { promise, resolve } = Promise.withResolvers<undefined>()
          await page.route('**/console/send/dispatch', async (route) => {
            await route.fetch({ maxRedirects: 0 })
            await route.abort()
            resolve(undefined)
          }, { times: 1 })
          await page.getByRole('button', { name: en.sendDo, exact: true }).click()
          await promise
          page = await another(form)
        }
      }
      return await count() === before + 1
    }), { numRuns: 8, endOnFailure: true })
    await context.close()
  })
}

import { Secret, TOTP } from 'otpauth'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { wordsOf as withApproving } from '../../core/packages/features/approvals/pages/words.ts'
import { wordsOf as withApps } from '../../core/packages/features/authenticators/pages/words.ts'
import { wordsOf as withBatches } from '../../core/packages/features/batches/pages/words.ts'
import { wordsOf as withLinks } from '../../core/packages/features/links/pages/words.ts'
import { wordsOf as withMarketplace } from '../../core/packages/features/marketplace/pages/words.ts'
import { wordsOf as withTemplates } from '../../core/packages/features/templates/pages/words.ts'
import { fill, languages, wordFor, type Words } from '../../plugins/console/language/language.ts'
import { until } from '../core/work/support.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { packed } from '../support/adapters.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { invoiceRequest, operator, shippedProviders, startService, type TestService } from '../support/service.ts'
import { isRight, launchChromium, openMenu, signInAt, watchFaults, withoutMouse } from './support/chromium.ts'

const wordsOf = (words: Words) => ({
  ...withApproving(words),
  ...withBatches(words),
  ...withApps(words),
  ...withLinks(words),
  ...withTemplates(words),
  ...withMarketplace(words)
})

type Company = Awaited<ReturnType<TestService['company']>>

/**
 * Who makes a journey, in a browser of their own. Without script the console is French, the screen as narrow as it may be, and there is no
 * mouse.
 */
type Person = {
  t: Test
  page: Page
  scripted: boolean
  words: ReturnType<typeof wordsOf>
  /** Their company, of which they are the admin. */
  company: Company
  /** A word that no other journey has. */
  own: string
  /** Somebody else, in another browser. */
  somebody: () => Promise<Page>
  /** With script: the page is right for everybody. */
  look: (name: string) => Promise<void>
}

const browser = await launchChromium(t)
if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else await inBrowser(browser)

async function inBrowser (browser: Browser): Promise<void> {
  const folder = await directory(t)
  await provide(folder, 'second')
  const { url, send, company: newCompany } = await startService(t, { config: { providerDirectories: [shippedProviders, folder] } })

  /** A button, or a link, by its words. */
  const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()
  const follow = async (page: Page, name: string): Promise<void> => {
    await openMenu(page)
    await page.getByRole('link', { name, exact: true }).click()
  }
  /** Of the chosen template; beside it stands the form of a document that is there already. */
  const openForm = (page: Page, words: Person['words']): Promise<void> =>
    page.locator('form:has(#f-template)').getByRole('button', { name: words.sendOpen }).click()
  const statusOf = (page: Page): Locator => page.locator('dd [role=status] .badge')
  const signOut = async (page: Page): Promise<void> => {
    await openMenu(page)
    await page.click('form[action="/console/sign-out"] button')
  }

  /** Follows a dispatch to its end: with script the page does so itself. */
  async function comesTo ({ page, scripted }: Person, status: string): Promise<void> {
    if (scripted) return statusOf(page).and(page.getByText(status, { exact: true })).waitFor()
    while (await statusOf(page).textContent() !== status) {
      await page.waitForTimeout(100)
      await page.reload()
    }
  }

  async function readsInvoice (page: Page, words: Person['words'], providerName?: string): Promise<void> {
    await page.goto('/console/send')
    await page.selectOption('#f-template', '1')
    await openForm(page, words)
    if (providerName !== undefined) await page.selectOption('#f-provider', providerName)
    const real = { 'number': 'F-2026-7', 'customer.name': 'Grace Hopper', 'customer.email': 'grace@example.com' }
    for (const [name, value] of Object.entries(real)) await page.fill(`[id="f-data.${name}"]`, value)
  }

  const journeys: Record<string, (person: Person) => Promise<void>> = {
    async 'signs in with a second factor' ({ t, page, words, company: { member }, look }) {
      // The service takes the code before the present one, and the one after it. None counts twice.
      const codeAt = (secret: string, steps: number): string =>
        new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate({ timestamp: Date.now() + steps * 30_000 })
      await signInAt(page, '/console/second-factor', { ...member, password: 'wrong' })
      t.equal((await page.textContent('main [role=alert]'))?.trim(), words.wrongCredentials)
      await look('a wrong password')
      await signInAt(page, '/console/second-factor', member)
      await look('there is none')
      await press(page, words.factorBegin)
      await look('a new app')
      const secret = await page.textContent('main p code') ?? ''
      await page.fill('#f-code', '000000')
      await press(page, words.factorConfirm)
      await look('a wrong first code')
      await page.fill('#f-code', codeAt(secret, 0))
      await press(page, words.factorConfirm)
      t.equal(await page.locator('.codes li').count(), 10)
      await look('recovery codes')
      await page.goto('/console/second-factor')
      for (const summary of await page.locator('main summary').all()) await summary.click()
      await look('it is set up')
      await signOut(page)
      await signInAt(page, '/console/sign-in?next=/console/providers', member)
      await look('the code is asked for')
      await page.fill('#code', '000000')
      await page.click('main button')
      t.equal((await page.textContent('main [role=alert]'))?.trim(), words.codeWrong)
      await look('a wrong code')
      await page.goto('/console/providers')
      t.equal(new URL(page.url()).pathname, '/console/sign-in', 'the password alone opens nothing')
      await signInAt(page, '/console/sign-in?next=/console/providers', member)
      await page.fill('#code', codeAt(secret, 1))
      await page.click('main button')
      t.equal(await page.textContent('h1'), words.providers)
    },

    async 'creates a company, which sends its first invoice' ({ t, page, words, own, somebody, look }) {
      const admin = { email: `ada@${own}.example.com`, password: 'correct horse battery' }
      await signInAt(page, '/console/companies', operator)
      await page.fill('#f-name', own)
      await press(page, words.companyCreate)
      t.equal(await page.getAttribute('#f-email', 'aria-invalid'), 'true')
      await look('a company that is refused')
      await page.fill('#f-credits', '0')
      await page.fill('#f-email', admin.email)
      await page.fill('#f-password', admin.password)
      await press(page, words.companyCreate)
      await look('a new company')
      await page.click('main a[href$="/setup"] >> nth=0')
      await page.fill('#f-amount', '20')
      await page.fill('#f-reason', 'Order 4711')
      await press(page, words.creditsDo)
      await look('whether the credits shall be given')
      await press(page, words.creditsDo)
      await look('its first steps')

      const theirs = await somebody()
      const ticks = (): Promise<string[]> => theirs.locator('section[aria-labelledby=steps] .badge').allTextContents()
      await signInAt(theirs, '/console', admin)
      t.same(await ticks(), [words.firstStepOpen, words.firstStepOpen, words.firstStepOpen])
      await follow(theirs, words.stepChoose)
      await theirs.click('.cards a[href$="/providers/simulator"]')
      await press(theirs, words.save)
      await theirs.goto('/console/services/invoicing')
      await theirs.check('input[value=simulator]')
      await theirs.locator('form:has(input[value=simulator])').getByRole('button', { name: words.switchLook }).first().click()
      await press(theirs, words.switchDo)
      await theirs.goto('/console')
      await follow(theirs, words.stepSend)
      await theirs.selectOption('#f-template', '1')
      await openForm(theirs, words)
      const lines = Number(await theirs.inputValue('input[name="data.lines:rows"]'))
      await theirs.locator('button[name=":add"][value="data.lines"]').click()
      const line = theirs.locator(`[id="f-data.lines.${String(lines)}.description"]`)
      await line.press('Enter')
      await theirs.locator(`[id="f-data.lines.${String(lines)}.description"][aria-invalid=true]`).waitFor()
      await theirs.locator(`button[name=":remove"][value="data.lines.${String(lines)}"]`).click()
      await line.waitFor({ state: 'detached' })
      // A phone has the lines of a long list folded.
      const folded = theirs.locator('summary', { hasText: fill(words.line, { n: 1 }) }).first()
      if (await folded.isVisible()) await folded.click()
      await theirs.fill('[id="f-data.lines.0.description"]', 'By hand')
      const [shown] = await Promise.all([theirs.waitForResponse('**/console/send/preview'), press(theirs, words.sendPreview)])
      t.equal(shown.headers()['content-type'], 'application/pdf')
      t.equal(await theirs.inputValue('[id="f-data.lines.0.description"]'), 'By hand', 'the page stays beside the document')
      await press(theirs, words.sendDo)
      await theirs.waitForURL('**/console/dispatches/*')
      t.equal(await statusOf(theirs).textContent(), words.status_succeeded)
      await theirs.goto('/console')
      t.same(await ticks(), [words.firstStepDone, words.firstStepDone, words.firstStepOpen])
      t.equal(await theirs.textContent('.figure'), '19')
      await page.reload()
      t.equal(await page.locator('main h2 .badge', { hasText: words.firstStepDone }).count(), 4, 'its first steps are done')
    },

    async 'switches a default while dispatches are under way, of which none fails' ({ t, page, words, company: { admin, companyId } }) {
      await send('PUT', '/api/v1/company/providers/second', { body: { settings: {} } }, admin)
      await send('POST', `/api/v1/companies/${companyId}/credits`, { body: { amount: 1_000_000, reason: 'For the load.' } }, operator)
      let [open, switched] = [true, false]
      const answers: { status: number, switched: boolean, provider: string }[] = []
      const load = Promise.all(Array.from({ length: 4 }, async () => {
        while (open) {
          const before = switched
          const { status, body } = await send('POST', '/api/invoicing', { body: invoiceRequest() }, admin)
          answers.push({ status, switched: before, provider: String(body.providerName ?? body.error) })
        }
      }))
      const some = async (count: number): Promise<void> => {
        for (const desired = answers.length + count; answers.length < desired;) await page.waitForTimeout(20)
      }
      await signInAt(page, '/console/providers', admin)
      await some(8)
      await page.getByRole('link', { name: words.switchFull.replace('{service}', wordFor(words, 'service', 'invoicing')) }).click()
      await page.check('input[value=second]')
      await page.locator('form:has(input[value=second])').getByRole('button', { name: words.switchLook }).first().click()
      t.same(await page.locator('tbody tr:first-child td').allTextContents(), ['Simulator', 'Sample second'])
      await press(page, words.switchDo)
      await page.waitForURL('**/console/providers?changed=invoicing')
      switched = true
      t.equal(await page.textContent(`tr:has(th:text-is("${wordFor(words, 'service', 'invoicing')}")) td`), 'Sample second')
      await some(8)
      open = false
      await load
      t.same(answers.filter(({ status }) => status !== 200), [])
      t.equal(answers[0]?.provider, 'simulator')
      t.same([...new Set(answers.filter((answer) => answer.switched).map(({ provider }) => provider))], ['second'])
    },

    async 'installs an adapter, which is configured, checked and used, and rolls it back' (person) {
      const { t, page, words, company: { admin }, own, somebody, look } = person
      const code = `acme-${own}`
      const settings = {
        type: 'object',
        required: ['apiKey', 'port'],
        properties: { apiKey: { type: 'string', 'x-secret': true }, port: { type: 'integer', maximum: 65_535 } }
      }
      for (const [version, hosts] of [['1.0.0', ['api.acme.test']], ['1.1.0', ['api.acme.test', 'eu.acme.test']]] as const) {
        const bytes = Buffer.from(packed({ code, version, hosts, settings })).toString('base64')
        await send('POST', '/api/v1/marketplace/packages', { body: { package: bytes } }, operator)
      }
      await signInAt(page, '/console/marketplace', operator)
      await look('the marketplace')
      await page.click(`.cards a[href$="/${code}"]`)
      await page.getByRole('link', { name: words.chooseVersionFull.replace('{version}', '1.0.0') }).click()
      await look('what it asks for')
      await press(page, words.install)
      t.equal((await page.textContent('[role=status]'))?.trim(), words.adapterInstalled)
      await page.click('main summary')
      await look('it is installed, and another version is there')

      const theirs = await somebody()
      await signInAt(theirs, `/console/providers/${code}`, admin)
      await theirs.fill('#f-apiKey', 'a secret')
      await theirs.fill('#f-port', '99999')
      await press(theirs, words.save)
      t.equal(await theirs.getAttribute('#f-port', 'aria-invalid'), 'true')
      t.equal(await theirs.inputValue('#f-port'), '99999')
      t.equal(await theirs.inputValue('#f-apiKey'), '', 'a secret is not shown again')
      await theirs.fill('#f-apiKey', 'a secret')
      await theirs.fill('#f-port', '465')
      await press(theirs, words.save)
      t.equal(await theirs.textContent('main [role=status]'), words.settingsSaved)
      await press(theirs, words.check)
      t.equal((await theirs.textContent('main [role=alert] p'))?.trim(), words.check_cannot_be_checked)
      /** What the vendor answers is the version of the adapter. */
      const dispatched = async (): Promise<string> => {
        await readsInvoice(theirs, words, code)
        await press(theirs, words.sendDo)
        await theirs.waitForURL('**/console/dispatches/*')
        return await theirs.textContent(`dt:text-is("${words.vendorStatus}") + dd`) ?? ''
      }
      t.equal(await dispatched(), '1.0.0')
      await page.reload()
      await press(page, words.upgrade)
      t.equal(await dispatched(), '1.1.0')
      await press(page, words.rollback.replace('{version}', '1.0.0'))
      t.equal((await page.textContent('[role=status]'))?.trim(), words.adapterRolledBack)
      await look('it is rolled back')
      t.equal(await dispatched(), '1.0.0')
    },

    async 'follows a dispatch while it is under way' (person) {
      const { t, page, words, company: { admin }, scripted } = person
      const { body: { dispatchId } } = await send('POST', '/api/invoicing', {
        body: invoiceRequest({}, { invoicing: { reference: 'uncertain' } })
      }, admin)
      const at = `/console/dispatches/${String(dispatchId)}`
      await signInAt(page, at, admin)
      const list = await page.context().newPage()
      await list.goto('/console/dispatches')
      await page.locator('main details summary').first().click()
      if (!scripted) await list.locator('.fold > summary').click()
      await list.fill('#f-search', 'typed')
      if (scripted) {
        for (const one of [page, list]) await one.locator('[data-changes] span', { hasText: words.follows }).waitFor()
        await page.evaluate('window.untouched = document.querySelector("#timeline + ol li")')
      }
      await send('POST', `/api/v1/dispatches/${String(dispatchId)}/resolve`, { body: { outcome: 'accepted', reason: 'Seen.' } }, admin)
      if (!scripted) { for (const one of [page, list]) await follow(one, words.loadAgain) }
      await comesTo(person, words.status_succeeded)
      t.equal(await page.locator('form[action$="/resolve"]').count(), 0, 'what can be done now')
      await list.locator(`tr:has(a[href="${at}"]) .badge`, { hasText: words.status_succeeded }).waitFor()
      if (!scripted) return
      t.equal(await page.locator('main details[open]').count(), 1, 'what was opened is open')
      t.equal(await page.evaluate('untouched.isConnected'), true, 'what has not changed is left alone')
      t.equal(await list.inputValue('#f-search'), 'typed')
      await page.locator('[data-changes]').waitFor({ state: 'detached' })
      await Promise.all([page.close(), list.close()])
      const headers = { authorization: `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}` }
      await until('the streams of the pages are closed', async () => {
        // A user has six at a time.
        const statuses = await Promise.all(Array.from({ length: 6 }, async () => {
          const gone = new AbortController()
          const { status } = await fetch(`${url}/api/v1/dispatches/changes?seconds=1`, { headers, signal: gone.signal })
          gone.abort()
          return status
        }))
        return statuses.every((status) => status === 200)
      })
    },

    async 'retries a letter with a corrected address' (person) {
      const { t, page, words, company: { admin }, look } = person
      await send('PUT', '/api/v1/company/defaults/postal', { body: { providerName: 'simulator' } }, admin)
      const recipient = { name: 'reject', address: '1 rue de Rivoli', city: 'Paris', postalCode: '75001', country: 'FR' }
      const { body: { dispatchId } } = await send('POST', '/api/postal', {
        body: { ...invoiceRequest(), documentType: undefined, postal: { recipient } }
      }, admin)
      await signInAt(page, '/console/dispatches?status=failed', admin)
      t.equal(new URL(page.url()).search, '?status=failed', 'back where the way began')
      await page.click(`a[href="/console/dispatches/${String(dispatchId)}"]`)
      await page.locator('summary', { hasText: words.correctStep.replace('{service}', wordFor(words, 'service', 'postal')) }).click()
      await page.fill('[id="f-postal.recipient.name"]', 'Ada Lovelace')
      await page.fill('[id="f-postal.recipient.postalCode"]', 'nowhere')
      await page.getByRole('button', { name: words.correctRetry }).first().click()
      t.equal(await page.getAttribute('[id="f-postal.recipient.postalCode"]', 'aria-invalid'), 'true')
      await look('a correction that is refused')
      await page.fill('[id="f-postal.recipient.postalCode"]', '75002')
      await page.getByRole('button', { name: words.correctRetry }).first().click()
      await page.waitForURL(`**/console/dispatches/${String(dispatchId)}`)
      await comesTo(person, words.status_succeeded)
      const { body: { data: [sent] } } = await send('GET', '/api/v1/simulator/outbox', {}, admin)
      for (const text of ['"name":"Ada Lovelace"', '"postalCode":"75002"']) contains(t, JSON.stringify(sent), text)
    },

    async 'sends a batch, which somebody else approves' ({ t, page, words, company: { admin, member }, somebody, look }) {
      await send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'simulator' } }, admin)
      await send('POST', '/api/v1/company/approval-rules', { body: { name: 'Everything' } }, admin)
      const rows = ['phone,text', '+33612345678,Hello', 'nowhere,Hello', '+33687654321,Hello']
      await signInAt(page, '/console/batches', member)
      await page.selectOption('#f-service', 'sms')
      await page.setInputFiles('input[type=file]', { name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(`${rows.join('\n')}\n`) })
      await press(page, words.batchRead)
      await look('the columns of a batch')
      for (const [index, pointer] of ['/sms/phoneNumber', '/sms/message'].entries()) {
        await page.locator('input[name=place]').nth(index).fill(pointer)
      }
      await press(page, words.batchCheck)
      const at = new URL(page.url()).pathname
      const resume = page.getByRole('button', { name: words.batchSendNow.replace('{n}', '2') })
      const comes = async (one: Page, what: Locator): Promise<void> => {
        for (; await what.count() === 0; await one.goto(new URL(one.url()).pathname)) await one.waitForTimeout(100)
      }
      await comes(page, resume)
      await look('a batch that is checked')
      await resume.click()

      const theirs = await somebody()
      await signInAt(theirs, '/console/approvals', admin)
      const waiting = theirs.locator('main table a')
      await comes(theirs, waiting)
      await waiting.click()
      await press(theirs, words.approvalApprove)
      t.equal(new URL(theirs.url()).pathname, at, 'whoever approves it is led to the batch')
      await comes(page, page.getByText(words.batch_finished, { exact: true }).first())
      t.equal(new URL(page.url()).pathname, at)
      const { body: { data } } = await send('GET', '/api/v1/dispatches?service=sms', {}, admin)
      t.equal(data.length, 2, 'all rows but the one with a fault')
    },

    async 'finds somebody by a part of a name' ({ t, page, words, company: { admin }, own, scripted }) {
      const { body: { dispatchId } } = await send('POST', '/api/invoicing', {
        body: invoiceRequest({ customer: { name: `Grace ${own} Hopper`, email: 'grace@example.com' } })
      }, admin)
      await signInAt(page, '/console', admin)
      const found = page.locator(`${scripted ? 'dialog' : 'main'} a[href$="/dispatches/${String(dispatchId)}"]`)
      if (scripted) {
        await page.waitForLoadState('load')
        await page.keyboard.press('/')
        await page.keyboard.type(own)
      } else {
        await page.click('header a.find')
        await page.fill('main input[type=search]', own)
        await page.keyboard.press('Enter')
      }
      await found.click()
      await page.waitForURL(`**/dispatches/${String(dispatchId)}`)
      t.equal(await statusOf(page).textContent(), words.status_succeeded)
    },

    async 'edits a template and publishes it' ({ t, page, words, company: { admin }, scripted }) {
      /** Writes the last line of the template: with script in the editor. `anew`: in the place of the one that is there. */
      async function writeLine (line: string, place: 'anew' | 'below'): Promise<void> {
        if (scripted) {
          await page.locator('.code .cm-content').first().click()
          await page.keyboard.press('Control+End')
          await page.keyboard.press(place === 'anew' ? 'Shift+Home' : 'Enter')
          return page.keyboard.type(line)
        }
        const [, lines = ''] = /^([^]*\n)(.*)$/.exec(await page.inputValue('#f-source')) ?? []
        await page.fill('#f-source', `${place === 'anew' ? lines : await page.inputValue('#f-source')}\n${line}`)
      }
      await signInAt(page, '/console/templates/20', admin)
      await follow(page, words.copy)
      await press(page, words.editText)
      await writeLine('nonsense: 1', 'below')
      await press(page, words.templateCreate)
      await page.locator('#f-source-wrong').waitFor()
      contains(t, await page.inputValue('#f-source'), /nonsense: 1$/, 'it stays as it was written')
      await writeLine('# By hand', 'anew')
      await page.selectOption('#f-format', 'TEXT')
      if (scripted) await page.locator('.live iframe:not(.waiting)').contentFrame().locator('body', { hasText: /\w/ }).waitFor()
      else {
        const [tab] = await Promise.all([page.waitForEvent('popup'), press(page, words.previewOpen)])
        await tab.locator('body', { hasText: /\w/ }).waitFor()
        t.equal(new URL(tab.url()).pathname, '/console/templates/new/preview')
      }
      await press(page, words.templateCreate)
      await page.waitForURL('**/templates/*?version=1&saved=1')
      await follow(page, words.edit)
      await press(page, words.editText)
      await writeLine('# Again', 'below')
      await press(page, words.templateSave)
      await page.waitForURL('**/templates/*?version=2&saved=1')
      await page.getByRole('button', { name: words.publishFull.replace('{version}', '2') }).first().click()
      t.equal(await page.textContent('[role=status]'), words.publishDone.replace('{version}', '2'))
      const { body } = await send('GET', new URL(page.url()).pathname.replace('/console', '/api/v1'), {}, admin)
      has(t, body, { version: 2, status: 'published' })
      contains(t, body.source, /# By hand\s+# Again$/)
    },

    async 'makes a key and uses it' ({ t, page, words, company: { admin }, own, look }) {
      await signInAt(page, '/console/developers', admin)
      await page.fill('#f-name', own)
      await press(page, words.keyMake)
      const key = await page.textContent('main code') ?? ''
      contains(t, key, /^dk_live_/)
      await look('a new key')
      await page.reload()
      const { body: { data } } = await send('GET', '/api/v1/keys', {}, admin)
      t.equal(data.length, 1, 'a reload makes no second one')
      const authorization = { headers: { authorization: `Bearer ${key}` } }
      const use = async (): Promise<number> =>
        (await send('POST', '/api/invoicing', { body: invoiceRequest(), ...authorization }, null)).status
      t.equal(await use(), 200)
      await page.goto('/console/developers')
      const row = page.locator(`tr:has-text("${own}")`)
      lacks(t, await row.locator('td:nth-child(5)').textContent(), words.keyUsedNever)
      await press(page, words.keyRevokeFull.replace('{name}', own))
      await look('whether the key shall be revoked')
      t.equal(await use(), 200, 'it was only asked for')
      await press(page, words.keyRevoke)
      t.equal(await use(), 401)
    },

    async 'invites a user, who signs in' ({ t, page, words, company: { admin }, own, somebody, look }) {
      const email = `guest@${own}.example.com`
      const password = 'correct horse battery'
      await signInAt(page, '/console/company', admin)
      await page.fill('#f-email', 'nobody')
      await press(page, words.userCreate)
      t.equal(await page.getAttribute('#f-email', 'aria-invalid'), 'true')
      await look('a user who is refused')
      await follow(page, words.invitationNew)
      await page.fill('#f-email', email)
      await page.check('#f-role-0')
      await press(page, words.invitationMake)
      const [link = ''] = /\/console\/link\/[\w-]+/.exec(await page.innerText('main code')) ?? []
      await look('the link')
      await page.goto('/console/company/invitations')
      await look('the invitations')
      const theirs = await somebody()
      await theirs.goto(link)
      await theirs.fill('#f-password', 'short')
      await press(theirs, words.linkAccept)
      t.equal(await theirs.getAttribute('#f-password', 'aria-invalid'), 'true')
      await theirs.fill('#f-password', password)
      await press(theirs, words.linkAccept)
      await theirs.locator('main').getByRole('link', { name: words.signIn }).click()
      await theirs.fill('#email', email)
      await theirs.fill('#password', password)
      await theirs.click('main button')
      t.equal(await theirs.textContent('h1'), words.home)
      await page.goto(link)
      t.equal(await page.textContent('h1'), words.linkDeadTitle)
      await look('a link that is used up')
    },

    async 'acts as somebody else' ({ t, page, words, company: { admin, member }, look }) {
      await signInAt(page, '/console/company', admin)
      await follow(page, member.email)
      await press(page, words.actAs.replace('{email}', member.email))
      contains(t, await page.textContent('.acting'), words.actingAs.replace('{own}', admin.email).replace('{user}', member.email))
      await look('acting')
      for (const path of ['/console/dispatches', '/console/send', '/console/sessions']) {
        await page.goto(path)
        t.equal(await page.locator('.acting').count(), 1, path)
        t.equal(await page.locator('nav a[href="/console/company"]').count(), 0, 'with their rights alone')
      }
      await press(page, words.actingEnd)
      t.equal(await page.locator('.acting').count(), 0)
      await page.goto('/console/company')
      t.equal(await page.locator('a', { hasText: member.email }).count(), 1)
    }
  }

  let journey = 0
  for (const scripted of [true, false]) {
    const words = wordsOf(languages[scripted ? 'en' : 'fr'])
    const options: BrowserContextOptions = {
      baseURL: url,
      javaScriptEnabled: scripted,
      locale: words.code,
      viewport: { width: scripted ? 1280 : 360, height: 800 }
    }
    for (const [name, make] of Object.entries(journeys)) {
      await t.test(`a person ${name}, ${scripted ? 'with script' : 'without script, by the keyboard alone'}`, async (t) => {
        const own = `journey-${String(++journey)}`
        const open = async (): Promise<{ page: Page, faults: string[], close: () => Promise<void> }> => {
          const context = await browser.newContext(options)
          const page = await context.newPage()
          return { faults: watchFaults(context, url), page: scripted ? page : withoutMouse(page), close: () => context.close() }
        }
        const opened = [await open()]
        const [{ page }] = opened as [typeof opened[0]]
        await make({
          t,
          page,
          scripted,
          words,
          own,
          company: await newCompany(own),
          async somebody () {
            const other = await open()
            opened.push(other)
            return other.page
          },
          look: (what) => scripted ? isRight(t, page, what) : Promise.resolve()
        })
        for (const { faults, close } of opened) {
          await close()
          t.same(faults, [], 'no rule of the pages is broken, and nothing comes from another host')
        }
      })
    }
  }

  await t.test('times are those of the reader\'s zone, with UTC in their title; without script they are UTC', async (t) => {
    const { admin } = await newCompany('zones')
    const { body: { dispatchId } } = await send('POST', '/api/invoicing', { body: invoiceRequest() }, admin)
    const { body: { createdAt } } = await send('GET', `/api/v1/dispatches/${String(dispatchId)}`, {}, admin)
    const at = Date.parse(createdAt as string)
    const shownAs = (offset: number): string => new Date(at + offset).toISOString().slice(0, 16).replace('T', ' ')
    for (const javaScriptEnabled of [true, false]) {
      const context = await browser.newContext({ baseURL: url, javaScriptEnabled, locale: 'en', timezoneId: 'Asia/Kolkata' })
      const page = await context.newPage()
      await signInAt(page, `/console/dispatches/${String(dispatchId)}`, admin)
      const time = page.locator('dd time').first()
      t.equal(await time.textContent(), javaScriptEnabled ? `${shownAs(19_800_000)} GMT+5:30` : `${shownAs(0)} UTC`)
      t.equal(await time.getAttribute('title'), javaScriptEnabled ? `${shownAs(0)} UTC` : null)
      await context.close()
    }
  })

  await t.test('a page of another site cannot use the session: neither by a form nor in a frame', async (t) => {
    const context = await browser.newContext({ baseURL: url, locale: 'en' })
    const [page, other] = [await context.newPage(), await context.newPage()]
    await signInAt(page, '/console', (await newCompany('framed')).admin)
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
    await context.close()
  })
}

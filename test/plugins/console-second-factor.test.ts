import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import t from 'tap'
import { words as ofApps } from '../../core/packages/features/authenticators/words.en.ts'
import { words as ofPasskeys } from '../../core/packages/features/passkeys/words.en.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, lacks } from '../support/matching.ts'
import { type Login, startService } from '../support/service.ts'
import { isAccessible, launchChromium, openMenu, signInAt } from './support/chromium.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const clock = { now: new Date('2026-03-14T09:00:00Z') }
// Browsers refuse passkeys for IP addresses, and accept them without TLS for this name alone.
const publicUrl = 'http://localhost'
const service = await startService(t, { config: { publicUrl }, replacements: { now: () => clock.now } })
const { send } = service
const { confirm, open, post, signIn } = openConsole(service)
const browser = await launchChromium(t, { args: [`--host-resolver-rules=MAP localhost:80 ${new URL(service.url).host}`] })

const codeOf = (secret: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate({ timestamp: clock.now.getTime() })
/** The next code is another one. */
const later = (): void => {
  clock.now = new Date(clock.now.getTime() + 30_000)
}

let made = 0
const company = await service.company('codes')
async function newUser (): Promise<Login> {
  const login = { email: `user-${++made}@codes.example.com`, password: 'correct horse' }
  await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: ['*'] } }, company.admin)
  return login
}

/** Sets an app up on the page, as a reader without script does. */
async function enrol (cookie: string): Promise<{ secret: string, recoveryCodes: string[] }> {
  const begun = await post('/second-factor/app', {}, cookie)
  const [, secret = ''] = /<code[^>]*>([A-Z2-7 ]{39})<\/code>/.exec(begun.body as string) ?? []
  contains(t, begun.body, /<svg class="qr" role="img" aria-label="QR[^>]+>\s*<path fill="#fff"[^>]+><path fill="#000" d="M/)
  const done = await post('/second-factor/confirm', { code: codeOf(secret) }, cookie)
  later()
  const recoveryCodes = [...(done.body as string).matchAll(/<code>([\w-]{19})<\/code>/g)].map(([, code = '']) => code)
  t.equal(recoveryCodes.length, 10)
  return { secret, recoveryCodes }
}

const cookieOf = (headers: Headers, name: string): string =>
  headers.getSetCookie().find((cookie) => cookie.startsWith(`${name}=`))?.split(';', 1)[0] ?? ''

/** The first page of the sign-in: the cookie of the wait. */
async function firstPage ({ email, password }: Login, next = '/console'): Promise<string> {
  const { status, headers } = await post('/sign-in', { email, password, next })
  t.same([status, headers.get('location')], [303, `/console/sign-in/code?next=${encodeURIComponent(next)}`])
  return cookieOf(headers, '__Host-console-sign-in')
}

await t.test('after the right password the sign-in asks for a code, and begins the session with it', async (t) => {
  const user = await newUser()
  const { secret, recoveryCodes } = await enrol(await signIn(user))
  for (const wrong of [{ ...user, password: 'wrong' }, { ...user, email: 'nobody@codes.example.com' }]) {
    const refused = await post('/sign-in', wrong)
    t.same([refused.status, refused.headers.get('set-cookie')], [403, null], 'nothing is learned before the password is right')
    contains(t, refused.body, en.wrongCredentials)
  }
  const waiting = await firstPage(user, '/console/providers')
  contains(t, (await post('/sign-in', user)).headers.get('set-cookie'),
    /^__Host-console-sign-in=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=300$/)
  contains(t, (await open('/sign-in/code?next=/console/providers', waiting)).body, /value="\/console\/providers"[^]*name="code"/)
  const secretOfWait = waiting.split('=')[1] ?? ''
  for (const path of ['', '/second-factor', '/sessions']) {
    t.equal((await open(path, waiting)).status, 303, 'the wait is no session')
    t.equal((await open(path, `__Host-console=${secretOfWait}`)).status, 303)
  }
  const refused = await post('/sign-in/code', { code: '000000' }, waiting)
  t.equal(refused.status, 403)
  contains(t, refused.body, en.codeWrong)
  t.equal((await post('/sign-in/code', { code: codeOf(secret) }, waiting, { 'sec-fetch-site': 'cross-site' })).status, 403)
  const done = await post('/sign-in/code', { code: codeOf(secret), next: '/console/providers' }, waiting)
  t.same([done.status, done.headers.get('location')], [303, '/console/providers'])
  contains(t, done.headers.getSetCookie().join(), '__Host-console-sign-in=; ')
  t.equal((await open('/sessions', cookieOf(done.headers, '__Host-console'))).status, 200)
  later()
  const again = await post('/sign-in/code', { code: codeOf(secret) }, waiting)
  t.same([again.headers.get('location'), cookieOf(again.headers, '__Host-console')], ['/console/sign-in', ''], 'the wait is over')
  const other = await post('/sign-in/code', { code: recoveryCodes[0] ?? '' }, await firstPage(user))
  t.equal((await open('/sessions', cookieOf(other.headers, '__Host-console'))).status, 200, 'a recovery code')
  for (const cookie of ['', `__Host-console-sign-in=${'a'.repeat(43)}`]) {
    t.equal((await open('/sign-in/code', cookie)).headers.get('location'), '/console/sign-in')
  }
})

await t.test('the page sets up, renews and removes; what was sent wrongly says so', async (t) => {
  const user = await newUser()
  const [cookie, elsewhere] = [await signIn(user), await signIn(user)]
  contains(t, (await open('/sessions', cookie)).body, 'href="/console/second-factor"')
  await post('/second-factor/app', {}, cookie)
  const wrong = await post('/second-factor/confirm', { code: '000000' }, cookie)
  t.equal(wrong.status, 403)
  contains(t, wrong.body, en.codeWrong)
  const { secret } = await enrol(cookie)
  t.equal((await open('/second-factor', elsewhere)).status, 303, 'other sessions end')
  const shown = await open('/second-factor', cookie)
  contains(t, shown.body, 'Left: 10.')
  lacks(t, shown.body, secret.slice(0, 9))
  t.equal((await post('/second-factor/app', {}, cookie)).headers.get('location'), '/console/second-factor', 'there is one already')
  for (const path of ['recovery-codes', 'remove']) {
    const refused = await post(`/second-factor/${path}`, { proof: 'wrong' }, cookie)
    t.equal(refused.status, 403)
    contains(t, refused.body, en.proofWrong)
  }
  contains(t, (await post('/second-factor/recovery-codes', { proof: user.password }, cookie)).body, /<code>[\w-]{19}<\/code>/)
  t.equal((await post('/second-factor/remove', { proof: codeOf(secret) }, cookie)).status, 303)
  contains(t, (await open('/second-factor', cookie)).body, ofApps.factorBegin)
  t.not(await signIn(user), '')
})

await t.test('an admin sees who has one, and takes it from who has lost it', async (t) => {
  const user = await newUser()
  await enrol(await signIn(user))
  const cookie = await signIn(company.admin)
  const { id } = (await send('GET', '/api/v1/users?limit=100', {}, company.admin)).body.data.find(({ email }: Login) =>
    email === user.email
  )
  const at = `/company/users/${String(id)}`
  contains(t, (await open('/company', cookie)).body, new RegExp(`${user.email}</a> <span class="badge good">${en.factor}`))
  contains(t, (await open(at, cookie)).body, `/console${at}/second-factor`)
  t.equal((await confirm(`${at}/second-factor`, {}, await signIn(company.member))).status, 403)
  t.equal((await confirm(`${at}/second-factor`, {}, cookie)).status, 303)
  contains(t, await signIn(user), /^__Host-console=/)
  lacks(t, (await open(at, cookie)).body, `${at}/second-factor`)
})

await t.test('where the company demands one, every page leads to the one that sets it up, until it is', async (t) => {
  const strict = await service.company('demanding')
  const [cookie, ofMember] = [await signIn(strict.admin), await signIn(strict.member)]
  t.equal((await post('/company', { requireSecondFactor: 'true' }, cookie)).status, 303)
  for (const path of ['', '/dispatches', '/company', '/sessions', '/send']) {
    t.equal((await open(path, ofMember)).headers.get('location'), '/console/second-factor', path)
  }
  t.equal((await post('/language', { language: 'en' }, ofMember)).status, 303)
  const page = await open('/second-factor', ofMember)
  contains(t, page.body, en.factorDemanded)
  lacks(t, page.body, '<nav')
  await enrol(ofMember)
  t.equal((await open('/dispatches', ofMember)).status, 200)
  t.equal((await post('/sign-out', {}, cookie)).headers.get('location'), '/console/sign-in', 'the sign-out is there for all')
  const { secret } = await enrol(await signIn(strict.admin))
  const done = await post('/sign-in/code', { code: codeOf(secret) }, await firstPage(strict.admin))
  const again = cookieOf(done.headers, '__Host-console')
  contains(t, (await open('/company', again)).body, /name="requireSecondFactor" value="true" checked/)
  t.equal((await post('/company', { addresses: '' }, again)).status, 303)
  t.equal((await send('GET', '/api/v1/credits', {}, strict.operator)).status, 200, 'nothing is demanded any more')
})

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else {
  await t.test('a passkey is added, signs in after the password and alone, gets another name and is removed', async (t) => {
    const user = await newUser()
    const context = await browser.newContext({ baseURL: publicUrl, locale: 'en' })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true }
    })
    await signInAt(page, '/console/second-factor', user)
    await isAccessible(t, page, 'a page that offers passkeys')
    await page.fill('#f-name', 'Laptop')
    await page.getByRole('button', { name: ofPasskeys.passkeyAdd }).click()
    await page.locator('.codes li').first().waitFor()
    t.equal(await page.locator('.codes li').count(), 10, 'recovery codes come with the first')
    await page.goto('/console/second-factor')
    t.equal(await page.locator('.list strong', { hasText: 'Laptop' }).count(), 1)
    await isAccessible(t, page, 'a page with a passkey')

    await signOut(page)
    await signInAt(page, '/console/sign-in?next=/console/sessions', user)
    await isAccessible(t, page, 'a sign-in that takes a passkey')
    await page.getByRole('button', { name: ofPasskeys.passkeyUse }).click()
    await page.waitForURL('**/console/sessions')

    await signOut(page)
    await page.goto('/console/sign-in?next=/console/second-factor')
    await page.getByRole('button', { name: ofPasskeys.passkeyAlone }).click()
    await page.waitForURL('**/console/second-factor')

    await page.locator('.list strong', { hasText: 'Laptop' }).waitFor()
    await page.goto('/console/send?template=20')
    await page.locator('iframe:not([hidden])').waitFor()
    await page.fill('[id="f-data.sender"]', 'Grace')
    await context.clearCookies({ name: '__Host-console' })
    await page.getByRole('button', { name: en.sendDo, exact: true }).click()
    await page.getByText(en.keptWaits).waitFor()
    await isAccessible(t, page, 'a sign-in for which a form waits')
    await page.getByRole('button', { name: ofPasskeys.passkeyAlone }).click()
    await page.getByText(en.keptIntro).waitFor()
    t.equal(await page.locator('input[name="data.sender"]').inputValue(), 'Grace', 'what was sent comes along')

    await page.goto('/console/second-factor')
    await signOut(page)
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.goto('/console/sign-in')
    const alone = page.getByRole('button', { name: ofPasskeys.passkeyAlone })
    await alone.click()
    await page.getByText(ofPasskeys.passkeyFailed).waitFor()
    t.equal(await alone.isEnabled(), true, 'the device has not recognized the person: they may try again')
    await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await alone.click()
    await page.waitForURL('**/console/test')

    await page.goto('/console/second-factor')
    await page.locator('summary', { hasText: /^Rename$/ }).click()
    await page.locator('input[id^=name-]').fill('Old laptop')
    await page.locator('form[action$="/name"] button').click()
    await page.locator('.list strong', { hasText: 'Old laptop' }).waitFor()
    await page.locator('summary', { hasText: /^Remove$/ }).click()
    await page.locator('form[action*="/passkeys/"] input[name=proof]').fill(user.password)
    await page.locator('form[action*="/passkeys/"][action$="/remove"] button').click()
    await page.locator('.list strong').waitFor({ state: 'detached' })
    t.equal(await page.getByRole('button', { name: ofApps.factorBegin }).count(), 1, 'the password alone suffices again')
    t.same(faults, [], 'the content security policy permits all of it')
    await context.close()
  })

  await t.test('without script the pages work, and say that a passkey needs one', async (t) => {
    const user = await newUser()
    const context = await browser.newContext({ baseURL: publicUrl, locale: 'en', javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto('/console/sign-in?next=/console/second-factor')
    t.equal(await page.getByRole('button', { name: ofPasskeys.passkeyAlone }).count(), 0)
    await page.fill('#email', user.email)
    await page.fill('#password', user.password)
    await page.click('main button')
    await page.waitForURL('**/second-factor')
    t.equal(await page.locator('noscript p').isVisible(), true)
    t.equal(await page.getByRole('button', { name: ofPasskeys.passkeyAdd }).count(), 0)
    await context.close()
  })
}

async function signOut (page: Page): Promise<void> {
  await openMenu(page)
  await page.click('form[action="/console/sign-out"] button')
}

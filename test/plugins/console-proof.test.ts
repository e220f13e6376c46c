import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import { words as ofPasskeys } from '../../core/packages/features/passkeys/words.en.ts'
import { tablesIn as signOnTables } from '../../core/packages/features/single-sign-on/store/tables.ts'
import { formIn } from '../../plugins/console/form/body.ts'
import { readSettings } from '../../plugins/console/form/settings.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { clockAt } from '../support/clock.ts'
import { contains, lacks } from '../support/matching.ts'
import { type Answer, type Login, startService } from '../support/service.ts'
import { isAccessible, launchChromium, signInAt } from './support/chromium.ts'
import { openConsole } from './support/console.ts'

const { en, fr } = languages
const clock = clockAt('2026-03-14T09:00:00Z')
// Browsers refuse passkeys for IP addresses, and accept them without TLS for this name alone.
const publicUrl = 'http://localhost'
const service = await startService(t, { config: { publicUrl }, replacements: { now: clock.now } })
const { send } = service
const { confirm, post, signIn } = openConsole(service)
const browser = await launchChromium(t, { args: [`--host-resolver-rules=MAP localhost:80 ${new URL(service.url).host}`] })
const company = await service.company('proof')

let made = 0
async function newUser (role = 'member'): Promise<Login & { id: number }> {
  const login = { email: `user-${++made}@proof.example.com`, password: 'correct horse' }
  const { body } = await send('POST', '/api/v1/users', { body: { ...login, role, services: ['*'] } }, company.admin)
  return { ...login, id: body.id as number }
}
const keysOf = async (login: Login): Promise<string[]> =>
  ((await send('GET', '/api/v1/keys', {}, login)).body.data as { name: string }[]).map(({ name }) => name)

/** The hidden fields of the first form that leads to a path, as a browser would send them. */
function keptIn (body: string, path: string): [string, string][] {
  const [, form = ''] = new RegExp(`<form method="post" action="${path}"[^>]*>([^]*?)</form>`).exec(body) ?? []
  const text = (value: string): string =>
    value.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).replaceAll('&quot;', '"').replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  return [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [name, text(value)])
}

function asks (t: Test, { status, body }: Answer, words = en): void {
  t.equal(status, 403)
  contains(t, body, `<h1>${words.proveTitle}</h1>`)
}

const key: [string, string][] = [['newest', 'z'], ['name', 'Shop "<1>" & more'], ['mode', 'live'], ['scope', 'send'], ['service', 'sms'], [
  'service',
  'email'
]]

await t.test('a session of five minutes ago proves anew, and goes on with what was typed', async (t) => {
  const user = await newUser()
  const cookie = await signIn(user)
  clock.advance(301)
  const requested = await post('/developers/keys', key, cookie)
  asks(t, requested)
  contains(t, requested.body, user.email)
  t.equal(requested.headers.get('www-authenticate'), null, 'no browser asks for a password of its own')
  const kept = keptIn(requested.body as string, '/console/developers/keys')
  t.same(kept, key)
  t.same(await keysOf(user), [])
  for (const wrong of ['wrong', '123456', '']) {
    const refused = await post('/developers/keys', [...kept, [':proof', wrong]], cookie)
    asks(t, refused)
    contains(t, refused.body, en.proofWrong)
    t.same(keptIn(refused.body as string, '/console/developers/keys'), key)
    lacks(t, refused.body, 'value="wrong"')
  }
  const done = await post('/developers/keys', [...kept, [':proof', user.password]], cookie)
  t.equal(done.status, 200)
  contains(t, done.body, /dk_live_/)
  t.same(await keysOf(user), ['Shop "<1>" & more'])

  clock.advance(299)
  t.equal((await post('/developers/keys', key, cookie)).status, 200, 'for five minutes')
  clock.advance(2)
  asks(t, await post('/developers/keys', key, cookie))
})

await t.test('a password and a secret stay as they are typed, also through the page that asks for a proof', async (t) => {
  const user = { email: 'turned@proof.example.com', password: '\u202ecorrect\u202c horse' }
  await send('POST', '/api/v1/users', { body: { ...user, role: 'admin', services: ['*'] } }, company.admin)
  const other = await newUser()
  const [cookie, path] = [await signIn(user), `/company/users/${other.id}/password`]
  clock.advance(301)
  const changed: [string, string][] = [['password', '\u2066battery\u2069 staple']]
  const requested = await post(path, changed, cookie)
  asks(t, requested)
  lacks(t, requested.body, /[\u202a-\u202e\u2066-\u2069]/)
  const kept = keptIn(requested.body as string, `/console${path}`)
  t.same(kept, changed)
  t.equal((await post(path, [...kept, [':proof', user.password]], cookie)).status, 303)
  t.ok(await signIn({ ...other, password: '\u2066battery\u2069 staple' }))
  const form = { properties: { apiKey: { type: 'string', 'x-secret': true as const }, account: { type: 'string' } } }
  const sent = new URLSearchParams({ apiKey: 'a\u202eb', account: 'a\u202eb' }).toString()
  t.same(readSettings(form, formIn(sent)), { apiKey: 'a\u202eb', account: 'ab' })
})

await t.test('what is typed proves for the session alone in which it is, and not for another user', async (t) => {
  const [user, other] = [await newUser(), await newUser()]
  const [cookie, second] = [await signIn(user), await signIn(user)]
  clock.advance(301)
  asks(t, await post('/developers/keys', [...key, [':proof', `${other.password} `]], cookie))
  t.equal((await post('/developers/keys', [...key, [':proof', user.password]], cookie)).status, 200)
  asks(t, await post('/developers/keys', key, second))
})

await t.test('a code of the app and a recovery code prove, too; in French', async (t) => {
  const user = await newUser()
  const cookie = await signIn(user)
  const { body: { secret } } = await send('POST', '/api/v1/my/second-factor', {}, user)
  const codeNow = (): string => new TOTP({ secret: Secret.fromBase32(secret as string) }).generate({ timestamp: clock.now().getTime() })
  const confirmed = await send('POST', '/api/v1/my/second-factor/confirm', { body: { code: codeNow() } }, user)
  const [recovery = ''] = confirmed.body.recoveryCodes as string[]
  t.equal(cookie === '', false)
  const waiting = await post('/sign-in', { email: user.email, password: user.password })
  clock.advance(30)
  const signedIn = await post('/sign-in/code', { code: codeNow() }, waiting.headers.get('set-cookie')?.split(';', 1)[0] ?? '')
  const session = signedIn.headers.getSetCookie().find((one) => one.startsWith('__Host-console='))?.split(';', 1)[0] ?? ''
  const french = `${session}; __Host-console-language=fr`
  for (const proof of [codeNow, () => recovery]) {
    clock.advance(301)
    asks(t, await post('/developers/keys', key, french), fr)
    const typed = proof()
    t.equal((await post('/developers/keys', [...key, [':proof', typed]], french)).status, 200)
    clock.advance(301)
    asks(t, await post('/developers/keys', [...key, [':proof', typed]], french), fr)
  }
})

await t.test('an impersonator proves who they are themselves', async (t) => {
  const user = await newUser()
  const cookie = await signIn(company.operator)
  const { id } = (await send('GET', '/api/v1/users', {}, company.admin)).body.data.find(({ email }: Login) => email === company.admin.email)
  await post(`/act/${String(id)}`, {}, cookie)
  clock.advance(301)
  const fields: [string, string][] = [[':as', String(id)], ['newest', '']]
  const requested = await confirm('/developers/secret', fields, cookie)
  asks(t, requested)
  contains(t, requested.body, company.operator.email)
  asks(t, await confirm('/developers/secret', [...fields, [':proof', user.password]], cookie))
  t.equal((await confirm('/developers/secret', [...fields, [':proof', company.operator.password]], cookie)).status, 200)
})

await t.test('whom the company lets in by its own provider signs in there again, and a password proves nothing', async (t) => {
  const other = await service.company('signed-on')
  const cookie = await signIn(other.member)
  const { id } = (await send('GET', '/api/v1/users', {}, other.admin)).body.data.find(({ email }: Login) => email === other.admin.email)
  await signOnTables(service.app.get('database').owner).insertInto('single_sign_on').values({
    company_id: other.companyId,
    code: 'abcdefghjkmn',
    issuer: 'https://issuer.test',
    client_id: 'client',
    client_secret: JSON.stringify({ v: 1, kid: '', wrappedKey: '', sealed: '' }),
    creates_users: false,
    default_role: 'member',
    default_services: [],
    links_by_email: false,
    required: true,
    way_in: id as number,
    updated_at: clock.now()
  }).execute()
  clock.advance(301)
  const requested = await post('/developers/keys', key, cookie)
  asks(t, requested)
  contains(t, requested.body, 'href="http://localhost/console/sign-on?company=abcdefghjkmn&amp;fresh=on" target="_blank"')
  lacks(t, requested.body, 'name=":proof"')
  t.same(keptIn(requested.body as string, '/console/developers/keys'), key)
  asks(t, await post('/developers/keys', [...key, [':proof', other.member.password]], cookie))
  t.same(await keysOf(other.member), [])
})

await t.test('a passkey proves: with a question of this user, once', async (t) => {
  const user = await newUser()
  const authenticator = createAuthenticator(publicUrl)
  const options = await send('POST', '/api/v1/my/passkeys/options', {}, user)
  await send('POST', '/api/v1/my/passkeys', { body: { name: 'Laptop', response: authenticator.create(options.body) } }, user)
  const waiting = await post('/sign-in', { email: user.email, password: user.password })
  const waits = waiting.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const question = await post('/sign-in/code/passkey/options', {}, waits)
  const signedIn = await post('/sign-in/code/passkey', { answer: authenticator.get(JSON.parse(question.body as string)) }, waits)
  const cookie = signedIn.headers.getSetCookie().find((one) => one.startsWith('__Host-console='))?.split(';', 1)[0] ?? ''
  clock.advance(301)
  const requested = await post('/developers/keys', key, cookie)
  asks(t, requested)
  contains(t, requested.body, 'data-passkey="/console/proof/passkey/options"')
  const answer = authenticator.get(JSON.parse((await post('/proof/passkey/options', {}, cookie)).body as string))
  asks(t, await post('/developers/keys', [...key, [':passkey', '{}']], cookie))
  t.equal((await post('/developers/keys', [...key, [':passkey', answer]], cookie)).status, 200)
  clock.advance(301)
  asks(t, await post('/developers/keys', [...key, [':passkey', answer]], cookie))
})

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else {
  await t.test('in a browser, with and without script, a key is made after the proof', async (t) => {
    for (const javaScriptEnabled of [true, false]) {
      const user = await newUser()
      const context = await browser.newContext({ baseURL: publicUrl, locale: 'en', javaScriptEnabled })
      const page = await context.newPage()
      await signInAt(page, '/console/sign-in?next=/console/developers', user)
      await page.waitForURL('**/developers')
      clock.advance(301)
      await page.fill('#f-name', 'Web shop')
      await page.getByRole('button', { name: en.keyMake }).click()
      await page.getByRole('heading', { name: en.proveTitle }).waitFor()
      if (javaScriptEnabled) await isAccessible(t, page, 'the page that asks for a proof')
      await page.locator('input[name=":proof"]').fill(user.password)
      await page.getByRole('button', { name: en.signOnGo }).click()
      await page.getByText(en.keyMade).waitFor()
      t.same(await keysOf(user), ['Web shop'])
      await context.close()
    }
  })

  await t.test('a passkey is added after the proof, under the name that was typed; and then it is the proof', async (t) => {
    const user = await newUser()
    const context = await browser.newContext({ baseURL: publicUrl, locale: 'en' })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true }
    })
    await signInAt(page, '/console/sign-in?next=/console/second-factor', user)
    await page.waitForURL('**/second-factor')
    clock.advance(301)
    await page.fill('#f-name', 'Laptop')
    await page.getByRole('button', { name: ofPasskeys.passkeyAdd }).click()
    await page.locator('input[name=":proof"]').fill(user.password)
    await page.getByRole('button', { name: en.signOnGo }).click()
    await page.getByText(en.proved).waitFor()
    t.equal(await page.inputValue('#f-name'), 'Laptop')
    await page.getByRole('button', { name: ofPasskeys.passkeyAdd }).click()
    await page.locator('.codes li').first().waitFor()

    clock.advance(301)
    await page.goto('/console/developers')
    await page.fill('#f-name', 'Web shop')
    await page.getByRole('button', { name: en.keyMake }).click()
    await page.getByRole('button', { name: ofPasskeys.passkeyUse }).click()
    await page.getByText(en.keyMade).waitFor()
    await context.close()
  })
}

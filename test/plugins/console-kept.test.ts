import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { formIn, sentIn } from '../../plugins/console/form/body.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, lacks } from '../support/matching.ts'
import { admin, type Answer, type Login, startService } from '../support/service.ts'
import { openConsole, unescaped } from './support/console.ts'

const { en, fr } = languages
const clock = { now: new Date('2026-03-14T09:00:00Z') }
const service = await startService(t, { replacements: { now: () => clock.now } })
const { company, send } = service
const { follow, open, post, signIn } = openConsole(service)

/** The fields of the first form that leads to a path, as a browser without script sends them. */
function fieldsOf (page: string, action: string): [string, string][] {
  const [, form = ''] = new RegExp(`<form[^>]* action="${action}"[^>]*>([^]*?)</form>`).exec(page) ?? []
  const inputs = [...form.matchAll(/<input[^>]* name="([^"]*)"[^>]*? value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])
  const areas = [...form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n([^]*?)<\/textarea>/g)].map(
    ([, name = '', text = '']) => [name, text]
  )
  return [...inputs, ...areas].map(([name = '', value = '']) => [name, unescaped(value.replaceAll('&#8238;', '\u202e'))])
}

/** What the form of a page of the sign-in sends, besides what is typed there. */
function carriedBy ({ body }: Answer, action = '/console/sign-in'): [string, string][] {
  return fieldsOf(body as string, action).filter(([name]) => name !== 'email')
}

const keptIn = (answer: Answer, action?: string): [string, string][] =>
  carriedBy(answer, action).filter(([name]) => name.startsWith('kept:'))

/** What a page carries along whose form waits for somebody who has a session. */
function waitingIn ({ body }: Answer): [string, string][] {
  const [, action = ''] = /<form method="post" action="([^"]*)" id="kept">/.exec(body as string) ?? []
  return fieldsOf(body as string, action.replaceAll('?', '\\?')).filter(([name]) => name.startsWith('kept:'))
}

/** The same page after a press of its button for French. */
async function inFrench (page: Answer, cookie: string): Promise<Answer> {
  contains(t, page.body, 'form="kept" formaction="/console/language"')
  return post('/language', [['next', '/console'], ...waitingIn(page), ['language', 'fr']], cookie)
}

const cookieOf = ({ headers }: Answer, name: string): string =>
  headers.getSetCookie().find((cookie) => cookie.startsWith(`${name}=`))?.split(';', 1)[0] ?? ''

/** Sends a form whose session has ended: the page that answers. */
async function signInAfter (path: string, sent: [string, string][]): Promise<Answer> {
  const ended = await post(path, sent)
  t.equal(ended.status, 307)
  const page = await post((ended.headers.get('location') ?? '').slice('/console'.length), sent)
  contains(t, page.body, en.keptWaits)
  return page
}

/** Sends a form whose session has ended, and signs in on the page that answers. */
async function signedInWith (path: string, sent: [string, string][], login: Login): Promise<Answer> {
  const page = await signInAfter(path, sent)
  const carried = carriedBy(page)
  const wrong = await post('/sign-in', [...carried, ['email', login.email], ['password', 'wrong']])
  t.same(keptIn(wrong), keptIn(page), 'a wrong password loses nothing')
  return post('/sign-in', [...carried, ['email', login.email], ['password', login.password]])
}

await t.test('a request that is sent after its session has ended is there again after the sign-in, without script', async (t) => {
  const cookie = await signIn()
  const { body: page } = await follow('/send?template=20', cookie)
  const typed = fieldsOf(page as string, '/console/send').filter(([name]) => name !== 'data.sender')
  const sent: [string, string][] = [...typed, ['data.sender', 'Grace "<Hopper>"']]
  const signedIn = await signedInWith('/send/dispatch', sent, admin)
  contains(t, signedIn.body, en.keptIntro)
  const again = fieldsOf(signedIn.body as string, '/console/send')
  t.same(again.filter(([name]) => name.startsWith('data.')), sent.filter(([name]) => name.startsWith('data.')))
  const shown = await post('/send', again, signedIn.headers.get('set-cookie')?.split(';', 1)[0])
  t.equal(shown.status, 200)
  contains(t, shown.body, 'value="Grace &quot;&lt;Hopper&gt;&quot;"')
  t.same((await send('GET', '/api/v1/dispatches')).body.data, [], 'nothing is sent')
})

await t.test('somebody else who signs in there does not see it', async (t) => {
  const { admin: other } = await company('other')
  const { body: page } = await follow('/send?template=20', await signIn())
  const signedIn = await signedInWith('/send/dispatch', [...fieldsOf(page as string, '/console/send'), ['data.sender', 'Grace']], other)
  const to = signedIn.headers.get('location') ?? ''
  t.same([signedIn.status, to.startsWith('/console/send?')], [303, true])
  lacks(t, (await open(to.slice('/console'.length), cookieOf(signedIn, '__Host-console'))).body, 'Grace')
})

await t.test('it comes along through a second step, a wrong code, another language and a wait that is over', async (t) => {
  const { admin: user } = await company('codes')
  const cookie = await signIn(user)
  const { body: page } = await follow('/send?template=20', cookie)
  const begun = await post('/second-factor/app', {}, cookie)
  const [, secret = ''] = /<code[^>]*>([A-Z2-7 ]{39})<\/code>/.exec(begun.body as string) ?? []
  const code = (): [string, string] => [
    'code',
    new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate({ timestamp: clock.now.getTime() })
  ]
  t.equal((await post('/second-factor/confirm', [code()], cookie)).status, 200)
  clock.now = new Date(clock.now.getTime() + 30_000)
  const typed: [string, string][] = [['email', user.email], ['password', user.password]]
  const step = '/console/sign-in/code'
  const first = await signInAfter('/send/dispatch', [...fieldsOf(page as string, '/console/send'), ['data.sender', 'Grace \u202eHopper']])
  const kept = keptIn(first)
  const french = await post('/language', [...carriedBy(first), ...typed, ['language', 'fr']])
  contains(t, french.body, fr.keptWaits)
  contains(t, french.body, `value="${user.email}"`)
  t.same(keptIn(french), kept)
  const second = await post('/sign-in', [...carriedBy(french), ...typed])
  const waiting = cookieOf(second, '__Host-console-sign-in')
  const wrong = await post('/sign-in/code', [...carriedBy(second, step), ['code', '000000']], waiting)
  t.same([wrong.status, keptIn(wrong, step)], [403, kept])
  const inFrench = await post('/language', [...carriedBy(wrong, step), ['code', ''], ['language', 'fr']], waiting)
  contains(t, inFrench.body, fr.codeLabel)
  t.same(keptIn(inFrench, step), kept)
  t.same(keptIn(await post('/sign-in-again', carriedBy(wrong, step))), kept, 'another password')
  const over = await post('/sign-in/code', [...carriedBy(inFrench, step), code()], `__Host-console-sign-in=${'a'.repeat(43)}`)
  contains(t, over.body, en.keptWaits)
  t.same(keptIn(over), kept)
  const again = await post('/sign-in', [...carriedBy(over), ...typed])
  const done = await post('/sign-in/code', [...carriedBy(again, step), code()], cookieOf(again, '__Host-console-sign-in'))
  contains(t, done.body, en.keptIntro)
  contains(t, done.body, 'value="Grace &#8238;Hopper"', 'as it was sent')
})

await t.test('what no page would take before a second factor is set up waits for that, beside its page', async (t) => {
  const { admin: chief, member } = await company('demanding')
  const { body: page } = await follow('/send?template=20', await signIn(member))
  t.equal((await post('/company', { requireSecondFactor: 'true' }, await signIn(chief))).status, 303)
  const sent: [string, string][] = [...fieldsOf(page as string, '/console/send'), ['data.sender', 'Grace']]
  const waits = await signedInWith('/send/dispatch', sent, member)
  contains(t, waits.body, en.keptForFactor)
  contains(t, waits.body, '<a class="button" href="/console/second-factor" target="_blank">')
  const [again = ''] = /\/console\/sign-in-again[^"]*/.exec(waits.body as string) ?? []
  const carried = fieldsOf(waits.body as string, again.replace('?', '\\?'))
  const cookie = cookieOf(waits, '__Host-console')
  const goOn = (): Promise<Answer> => post(again.slice('/console'.length).replaceAll('&amp;', '&'), carried, cookie)
  contains(t, (await goOn()).body, en.keptForFactor, 'it is not set up yet')
  const begun = await post('/second-factor/app', {}, cookie)
  const [, secret = ''] = /<code[^>]*>([A-Z2-7 ]{39})<\/code>/.exec(begun.body as string) ?? []
  const totp = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) })
  const confirmed = await post('/second-factor/confirm', { code: totp.generate({ timestamp: clock.now.getTime() }) }, cookie)
  t.equal(confirmed.status, 200)
  const shown = await goOn()
  contains(t, shown.body, en.keptIntro)
  t.ok(fieldsOf(shown.body as string, '/console/send').some(([name, value]) => name === 'data.sender' && value === 'Grace'))
})

await t.test('who signs in beside the page in which a form waits has it there; nobody else has', async (t) => {
  const { admin: author, member: other } = await company('beside')
  const { body: page } = await follow('/send?template=20', await signIn(author))
  const waits = await signInAfter('/send/dispatch', [...fieldsOf(page as string, '/console/send'), ['data.sender', 'Grace']])
  contains(t, waits.body,
    /<form method="post" action="\/console\/sign-on" class="stack" target="_blank"><input[^>]* value="\/console\/kept">/)
  contains(t, waits.body, '<a href="/console/forgotten" target="_blank">')
  const [, again = ''] = /form="sign-in" formaction="\/console([^"]*)"/.exec(waits.body as string) ?? []
  const goOn = (cookie: string): Promise<Answer> => post(again.replaceAll('&amp;', '&'), carriedBy(waits), cookie)
  t.same(keptIn(await goOn('')), keptIn(waits), 'nobody has signed in yet')
  const cookie = await signIn(author)
  contains(t, (await open('/kept', cookie)).body, en.keptSignedIn)
  const shown = await goOn(cookie)
  contains(t, shown.body, en.keptIntro)
  t.ok(fieldsOf(shown.body as string, '/console/send').some(([name, value]) => name === 'data.sender' && value === 'Grace'))
  const [wrong, kept] = [await signIn(other), keptIn(waits)]
  const theirs = await goOn(wrong)
  contains(t, theirs.body, en.keptForAuthor, 'it waits on for its author')
  t.same(waitingIn(theirs), kept)
  const french = await inFrench(theirs, wrong)
  contains(t, french.body, fr.keptForAuthor)
  t.same(waitingIn(french), kept)
  const [, asAuthor = ''] = /formaction="\/console([^"]*author=1[^"]*)"/.exec(french.body as string) ?? []
  const first = await post(asAuthor.replaceAll('&amp;', '&'), waitingIn(french), wrong)
  t.same(keptIn(first), kept)
  const signedIn = await post('/sign-in', [...carriedBy(first), ['email', author.email], ['password', author.password]], wrong)
  contains(t, signedIn.body, en.keptIntro)
})

await t.test('a form that is sent while its session lasts waits, too, where a second factor has come to be demanded', async (t) => {
  const { admin: chief, member } = await company('begins to demand')
  const cookie = await signIn(member)
  const typed = fieldsOf((await follow('/send?template=20', cookie)).body as string, '/console/send')
  t.equal((await post('/company', { requireSecondFactor: 'true' }, await signIn(chief))).status, 303)
  const sent: [string, string][] = [...typed, ['data.sender', 'Grace']]
  const led = await post('/send/dispatch', sent, cookie)
  t.equal(led.status, 307)
  const waits = await post((led.headers.get('location') ?? '').slice('/console'.length), sent, cookie)
  contains(t, waits.body, en.keptForFactor)
  const kept = waitingIn(waits)
  t.ok(kept.some(([name, value]) => name === 'kept:data.sender' && value === 'Grace'))
  const french = await inFrench(waits, cookie)
  contains(t, french.body, fr.keptForFactor)
  t.same(waitingIn(french), kept)
  const long = await post('/send/dispatch', [...typed, ['x', 'x'.repeat(1024 * 1024)]], cookie)
  t.equal(long.headers.get('location'), '/console/kept?lost=1')
  contains(t, (await open('/kept?lost=1', cookie)).body, en.keptNotForFactor)
  t.equal((await open('/drafts', cookie)).headers.get('location'), '/console/second-factor', 'what was not written')
  t.equal((await post('/developers/keys', [['name', 'x']], cookie)).headers.get('location'), '/console/second-factor')
})

await t.test('who has signed in again, and reads the page that leads to a form in another language, has it there', async (t) => {
  const { admin: author } = await company('languages')
  const { body: page } = await follow('/send?template=20', await signIn(author))
  const shown = await signedInWith('/send/dispatch', [...fieldsOf(page as string, '/console/send'), ['data.sender', 'Grace']], author)
  const french = await inFrench(shown, cookieOf(shown, '__Host-console'))
  contains(t, french.body, fr.keptIntro)
  t.same(fieldsOf(french.body as string, '/console/send'), fieldsOf(shown.body as string, '/console/send'))
})

await t.test('a form of somebody else neither writes their draft nor takes its number', async (t) => {
  const { admin: author, member: other } = await company('two')
  const cookie = await signIn(author)
  const { body: page } = await follow('/send?template=20', cookie)
  const typed = fieldsOf(page as string, '/console/send').filter(([name]) => name !== 'data.sender')
  const asOther = await signIn(other)
  for (const [name, as] of [['Grace', asOther], ['Ada', cookie], ['Grace', asOther]] as const) {
    t.equal((await post('/send', [...typed, ['data.sender', name]], as)).status, 200)
  }
  t.same((await send('GET', '/api/v1/drafts', {}, other)).body.data, [])
  const { body: { data: [draft] } } = await send('GET', '/api/v1/drafts', {}, author)
  const { body: { request } } = await send('GET', `/api/v1/drafts/${String(draft.id)}`, {}, author)
  contains(t, JSON.stringify(request), 'Ada')
})

await t.test('what is very large, or has very many fields, is not carried along; the rest stands once in the page', async (t) => {
  const { body: page } = await follow('/send?template=20', await signIn())
  const marks = fieldsOf(page as string, '/console/send').filter(([name]) => [':again', ':author', ':mark'].includes(name))
  const sent = async (more: [string, string][]): Promise<number> => (await post('/send/dispatch', [...marks, ...more])).status
  const fields = (count: number): [string, string][] => Array.from({ length: count }, () => ['', ''])
  t.same([await sent(fields(2_000)), await sent(fields(2_001))], [307, 303])
  t.equal(await sent([['x', 'x'.repeat(1024 * 1024)]]), 303)
  const longest = await signInAfter('/send/dispatch', [...marks, ['x', '"'.repeat(330_000)]])
  t.equal((longest.body as string).split('name="kept:x"').length, 2)
  t.equal((await post('/sign-in', [...carriedBy(longest), ['email', admin.email], ['password', 'wrong']])).status, 403, 'it can be sent')
})

await t.test('each field of a form is looked up once, however many there are', (t) => {
  const read = formIn('=&'.repeat(10_000))
  let looks = 0
  read.has = () => ++looks > 0
  t.equal(sentIn(read).length, 10_000)
  t.equal(looks, 0)
  t.end()
})

await t.test('so is the text of a template, and the blocks of one', async (t) => {
  const cookie = await signIn()
  for (const [path, act] of [['/templates/new', []], ['/templates/new/blocks', [['do', 'save']]]] as [string, [string, string][]][]) {
    const { body: page } = await open(`${path}?from=1`, cookie)
    const typed = fieldsOf(page as string, `/console${path}`).filter(([name]) => name !== 'sample')
    const sample = '{"number":"kept through the sign-in"}'
    const signedIn = await signedInWith(path, [...typed, ['sample', sample], ...act], admin)
    const [, to = ''] = /<form method="post" action="\/console([^"]*)"><input type="hidden" name="base"/.exec(signedIn.body as string) ?? []
    const again = fieldsOf(signedIn.body as string, `/console${to}`)
    const shown = await post(to, again, signedIn.headers.get('set-cookie')?.split(';', 1)[0])
    contains(t, unescaped(shown.body as string), sample, path)
    t.equal((await send('GET', '/api/v1/templates?q=kept')).body.data.length, 0)
  }
})

await t.test('so are a partial, new and known, and the brand', async (t) => {
  await send('PUT', '/api/v1/partials/terms', { body: { kind: 'partial', source: 'blocks: [{ paragraph: Before }]' } })
  const cookie = await signIn()
  const changes: [string, [string, string][]][] = [
    ['/partials/new', [['name', 'kept'], ['kind', 'layout'], ['source', 'blocks: [{ paragraph: Kept }]']]],
    ['/partials/terms', [['source', 'blocks: [{ paragraph: After }]']]],
    ['/company/brand', [['accent-own', 'true'], ['accent', '#123456']]]
  ]
  for (const [path, changed] of changes) {
    const { body: page } = await open(path, cookie)
    const names = changed.map(([name]) => name)
    const typed = fieldsOf(page as string, `/console${path}`).filter(([name]) => !names.includes(name))
    const signedIn = await signedInWith(path, [...typed, ...changed], admin)
    const [, to = ''] = /<form method="post" action="\/console([^"]*\/again)">/.exec(signedIn.body as string) ?? []
    const again = fieldsOf(signedIn.body as string, `/console${to}`)
    const shown = await post(to, again, signedIn.headers.get('set-cookie')?.split(';', 1)[0])
    t.equal(shown.status, 200, path)
    for (const [, value] of changed) if (value !== 'true') contains(t, unescaped(shown.body as string), value, path)
  }
  contains(t, JSON.stringify((await send('GET', '/api/v1/partials/terms')).body), 'Before', 'nothing is saved')
})

await t.test('a page that was shown for 7 days keeps nothing, and its reader is told so; so is who has written very much', async (t) => {
  const { body: page } = await follow('/send?template=20', await signIn())
  const typed = fieldsOf(page as string, '/console/send')
  const told = async (sent: [string, string][]): Promise<string> => {
    const { status, headers } = await post('/send/dispatch', sent)
    t.equal(status, 303)
    return (await open((headers.get('location') ?? '').slice('/console'.length), '')).body as string
  }
  contains(t, await told([...typed, ['x', 'x'.repeat(1024 * 1024)]]), en.keptNot)
  const [, mark = ''] = typed.find(([name]) => name === ':mark') ?? []
  const later = mark.replace(/^\d+/, (until) => String(Number(until) + 1))
  contains(t, await told(typed.map(([name, value]) => [name, name === ':mark' ? later : value])), en.keptNot, 'nobody makes it last longer')
  contains(t, await told(typed.map(([name, value]) => [name, name === ':mark' ? 'a'.repeat(43) : value])), en.keptNot, 'an older release')
  clock.now = new Date(clock.now.getTime() + 7 * 86_400_000)
  contains(t, await told(typed), en.keptNot)
})

await t.test('the sign-in has 7 days of its own; who comes later is told that what was written is lost, wherever that is', async (t) => {
  const { admin: user } = await company('late')
  const cookie = await signIn(user)
  const { body: page } = await follow('/send?template=20', cookie)
  const begun = await post('/second-factor/app', {}, cookie)
  const [, secret = ''] = /<code[^>]*>([A-Z2-7 ]{39})<\/code>/.exec(begun.body as string) ?? []
  const totp = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) })
  const code = (): [string, string] => ['code', totp.generate({ timestamp: clock.now.getTime() })]
  t.equal((await post('/second-factor/confirm', [code()], cookie)).status, 200)
  const pass = (milliseconds: number): void => void (clock.now = new Date(clock.now.getTime() + milliseconds))
  const login: [string, string][] = [['email', user.email], ['password', user.password]]
  const step = '/console/sign-in/code'
  pass(7 * 86_400_000 - 1)
  const first = await signInAfter('/send/dispatch', [...fieldsOf(page as string, '/console/send'), ['data.sender', 'Grace']])
  pass(7 * 86_400_000 - 1)
  const second = await post('/sign-in', [...carriedBy(first), ...login])
  t.same(keptIn(second, step), keptIn(first), 'the page of the form was shown for nearly 7 days before')
  pass(1)
  const lost: [string, [string, string][], string?][] = [
    ['/sign-in', [...carriedBy(first), ['email', user.email], ['password', 'wrong']]],
    ['/sign-in', [...carriedBy(first), ...login]],
    ['/sign-in-again', carriedBy(second, step)],
    ['/language', [...carriedBy(first), ...login, ['language', 'en']]],
    ['/language', [...carriedBy(second, step), ['code', ''], ['language', 'en']]],
    ['/sign-in/code', [...carriedBy(second, step), ['code', '000000']], cookieOf(second, '__Host-console-sign-in')],
    ['/sign-in/code', [...carriedBy(second, step), code()], `__Host-console-sign-in=${'a'.repeat(43)}`]
  ]
  for (const [path, sent, waiting] of lost) {
    const { status, body } = await post(path, sent, waiting)
    t.ok([200, 403].includes(status), path)
    contains(t, body, en.keptNot, path)
    lacks(t, body, 'kept:', 'once')
  }
  const { admin: other } = await company('late too')
  const { body: theirs } = await follow('/send?template=20', await signIn(other))
  const waits = await signInAfter('/send/dispatch', fieldsOf(theirs as string, '/console/send'))
  pass(7 * 86_400_000)
  const signedIn = await post('/sign-in', [...carriedBy(waits), ['email', other.email], ['password', other.password]])
  t.equal(signedIn.status, 200)
  contains(t, signedIn.body, en.keptGone)
  t.equal((await open('/drafts', cookieOf(signedIn, '__Host-console'))).status, 200)
})

await t.test('what no form of the console sends is not carried along', async (t) => {
  const { body: page } = await follow('/send?template=20', await signIn())
  const own = new Map(fieldsOf(page as string, '/console/send').filter(([name]) => [':again', ':author', ':mark'].includes(name)))
  const another = String(Number(own.get(':author')) + 1)
  const paths = ['https://elsewhere.example.com', '/console/send/dispatch', '/console/developers/keys']
  const forged = [...paths.map((path) => [':again', path] as const), [':author', another], [':mark', ''], [':mark',
    'a'.repeat(43)]] as const
  for (const [name, value] of forged) {
    const sent = [...new Map(own).set(name, value)]
    t.equal((await post('/send', sent)).status, 303, `${name} ${value}`)
    const { email, password } = admin
    const carried = sent.map(([field, text]): [string, string] => [`kept:${field}`, text])
    const { status, body } = await post('/sign-in', [...carried, ['email', email], ['password', password]])
    t.equal(status, 200, `${name} ${value}`)
    contains(t, body, en.keptGone)
    lacks(t, body, 'type="hidden" name=":', `${name} ${value}`)
  }
  const proved = await signInAfter('/send', [...own, [':confirmed', 'true'], [':proof', 'secret'], ['do', 'save'], ['x', 'y']])
  t.same(keptIn(proved).map(([name]) => name), ['kept::again', 'kept::author', 'kept::mark', 'kept:x'])
  const { status, headers } = await open('/sign-in-again?next=/console/drafts', '')
  t.same([status, headers.get('location')], [303, '/console/sign-in?next=%2Fconsole%2Fdrafts'])
  t.equal((await post('/developers/keys', [['name', 'x']])).status, 303, 'a form that does not say so')
})

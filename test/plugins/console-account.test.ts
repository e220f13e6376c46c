import t from 'tap'
import { words as ofSignOn } from '../../core/packages/features/single-sign-on/words.en.ts'
import { languages, wordFor } from '../../plugins/console/language/language.ts'
import { contains, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const { en, fr } = languages
const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send } = service
const { confirm, open, follow, post, signIn } = openConsole(service)
const french = { 'accept-language': 'fr', 'sec-fetch-site': 'same-origin' }

await t.test('everybody changes their own password, which ends their sessions', async (t) => {
  const { member } = await service.company('own-password')
  const cookie = await signIn(member)
  contains(t, (await open('/sessions', cookie)).body, 'action="/console/sessions/password#password"')
  const short = await post('/sessions/password', { current: member.password, password: 'short' }, cookie)
  t.equal(short.status, 400)
  contains(t, short.body, /id="f-password"[^>]*aria-invalid="true"/)
  t.equal((await post('/sessions/password', { current: 'not this one', password: 'another good one' }, cookie)).status, 403)
  const changed = await post('/sessions/password', { current: member.password, password: 'another good one' }, cookie)
  t.equal(changed.headers.get('location'), '/console/sign-in?changed=1#main')
  contains(t, (await open('/sign-in?changed=1', '')).body, en.passwordChanged)
  t.equal((await open('', cookie)).status, 303, 'signed out')
  t.not(await signIn({ ...member, password: 'another good one' }), '')
})

await t.test('all other sessions are ended at once; with one session there is nothing to end', async (t) => {
  const { member } = await service.company('other-sessions')
  const here = await signIn(member)
  lacks(t, (await open('/sessions', here)).body, en.sessionEndOthers)
  const others = [await signIn(member), await signIn(member)]
  contains(t, (await open('/sessions', here)).body, en.sessionEndOthers)
  t.equal((await confirm('/sessions/end-others', {}, here)).status, 303)
  for (const other of others) t.equal((await open('', other)).status, 303)
  t.equal((await open('', here)).status, 200)
})

await t.test('nobody is offered to disable themselves', async (t) => {
  const { admin, member } = await service.company('oneself')
  const cookie = await signIn(admin)
  const { body: { data } } = await send('GET', '/api/v1/users', {}, admin)
  for (const { id, email } of data) {
    const { body } = await open(`/company/users/${String(id)}`, cookie)
    t.equal(String(body).includes('name="disabled"'), email === member.email, email)
  }
})

await t.test('what is wrong with a field stands beside it alone', async (t) => {
  const { admin } = await service.company('beside')
  const cookie = await signIn(admin)
  const { body } = await post('/company/invitations', { email: 'nobody', role: 'member' }, cookie)
  contains(t, body, en.seeFields)
  t.equal(String(body).split('This is not an e-mail address').length, 2)
  lacks(t, body, '/email:')
  const { body: { data } } = await send('GET', '/api/v1/users', {}, admin)
  const user = await post(`/company/users/${String(data.at(-1).id)}/password`, { password: 'short' }, cookie)
  contains(t, user.body, /id="f-password"[^>]*aria-invalid="true"/)
})

await t.test('who may use some services is offered these, and told where a form is not theirs', async (t) => {
  const { admin } = await service.company('some-services')
  const carl = { email: 'carl@some-services.example.com', password: 'correct horse battery' }
  await send('POST', '/api/v1/users', { body: { ...carl, role: 'member', services: ['email'] } }, admin)
  const cookie = await signIn(carl)
  const keys = await open('/developers', cookie)
  contains(t, keys.body, 'value="email"')
  lacks(t, keys.body, 'value="postal"')
  const choice = await open('/send', cookie)
  contains(t, choice.body, '<option value="email"')
  lacks(t, choice.body, '<option value="postal"')
  contains(t, (await follow('/send?template=1', cookie)).body, en.sendNotYours.replace('{service}', wordFor(en, 'service', 'invoicing')))
  lacks(t, (await follow('/send?template=10', cookie)).body, en.sendNotYours.split(':')[0]!)
})

await t.test('what a form asked for and was refused is no page that cannot be shown', async (t) => {
  const { member } = await service.company('refused')
  const cookie = await signIn(member)
  const refused = await post('/company/users', {}, cookie)
  t.equal(refused.status, 403)
  contains(t, refused.body, en.notDoneTitle)
  const lost = await post('/developers/keys/00000000-0000-7000-8000-000000000000', { name: ' ' }, cookie)
  t.equal(lost.status, 404)
  contains(t, lost.body, en.notDoneTitle)
  const link = await open('/link-mail', cookie)
  t.equal(link.status, 403)
  lacks(t, link.body, '<p></p>', 'it says why')
  for (const path of ['/audit', '/developers/requests']) {
    const page = await open(path, cookie)
    t.equal(page.status, 403)
    contains(t, page.body, en.forbiddenTitle)
    lacks(t, page.body, 'class="filters"')
  }
})

await t.test('a change of the language leads back to where the reader was going', async (t) => {
  contains(t, (await open('/sign-in?next=/console/send', '')).body, 'name="next" value="/console/sign-in?next=%2Fconsole%2Fsend"')
  contains(t, (await open('/sign-on?company=abcdefghjkmn', '')).body, 'name="next" value="/console/sign-on?company=abcdefghjkmn"')
})

await t.test('an e-mail address that leads to no provider is not shown as the code of a company', async (t) => {
  const { body } = await post('/sign-on', { email: 'ada@example.com' })
  contains(t, body, ofSignOn.signOnUnknownEmail)
  lacks(t, body, 'ada@example.com')
})

await t.test('no line of French breaks before a sign, or within quotation marks', (t) => {
  t.same(Object.entries(fr).filter(([, text]) => / [:;!?»]|« /.test(text)), [])
  t.end()
})

await t.test('who has tried too often is told for how long to wait, in their language', async (t) => {
  const limited = openConsole(await startService(t, { config: { limits: { auth: 1, dispatch: 0, validation: 0, requests: 0 } } }))
  await limited.signIn()
  const wait = (text: string): RegExp => new RegExp(text.replace('{n}', '\\d+'))
  contains(t, (await limited.post('/sign-in', {})).body, wait(en.tooManyWait))
  contains(t, (await limited.post('/sign-in', {}, '', french)).body, wait(fr.tooManyWait))
})

await t.test('the data of a template are asked for in the words of the reader, in the usual order', async (t) => {
  const { member } = await service.company('data-words')
  const cookie = await signIn(member)
  const { body } = await follow('/send?template=1', cookie, french)
  const labels = [...String(body).matchAll(/<label for="f-data\.seller\.[^"]*">([^<]*)/g)].map(([, label]) => label?.trim())
  t.same(labels, [fr.data_name, fr.data_email, fr.data_phone, fr.data_address, fr.data_city, fr.data_postalCode, fr.data_country,
    fr.data_vatId])
})

await t.test('a list of services has no column for what a member may not do', async (t) => {
  const { admin, member } = await service.company('columns')
  contains(t, (await open('/providers', await signIn(admin))).body, `<th scope="col">${en.action}</th>`)
  lacks(t, (await open('/providers', await signIn(member))).body, `<th scope="col">${en.action}</th>`)
})

await t.test('who is signed in and links no account is not told that they are not signed in', async (t) => {
  const { member } = await service.company('linking')
  const { status, body } = await open('/sign-on/link', await signIn(member))
  t.equal(status, 403)
  contains(t, body, 'href="/console/sessions"')
  lacks(t, body, ofSignOn.signOnRefusedTitle)
})

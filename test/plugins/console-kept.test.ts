import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, lacks } from '../support/matching.ts'
import { admin, type Answer, type Login, startService } from '../support/service.ts'
import { openConsole, unescaped } from './support/console.ts'

const { en } = languages
const service = await startService(t)
const { company, send } = service
const { follow, open, post, signIn } = openConsole(service)

/** The fields of the first form that leads to a path, as a browser without script sends them. */
function fieldsOf (page: string, action: string): [string, string][] {
  const [, form = ''] = new RegExp(`<form[^>]* action="${action}"[^>]*>([^]*?)</form>`).exec(page) ?? []
  const inputs = [...form.matchAll(/<input[^>]* name="([^"]*)"[^>]*? value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])
  const areas = [...form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n([^]*?)<\/textarea>/g)].map(
    ([, name = '', text = '']) => [name, text]
  )
  return [...inputs, ...areas].map(([name = '', value = '']) => [name, unescaped(value)])
}

/** Sends a form whose session has ended, and signs in on the page that answers. */
async function signedInWith (path: string, sent: [string, string][], login: Login): Promise<Answer> {
  const ended = await post(path, sent)
  t.equal(ended.status, 307)
  const to = (ended.headers.get('location') ?? '').slice('/console'.length)
  const page = await post(to, sent)
  contains(t, page.body, en.keptWaits)
  const carried = fieldsOf(page.body as string, '/console/sign-in').filter(([name]) => name !== 'email')
  const wrong = await post('/sign-in', [...carried, ['email', login.email], ['password', 'wrong']])
  t.same(fieldsOf(wrong.body as string, '/console/sign-in').filter(([name]) => name.startsWith('kept:')),
    carried.filter(([name]) => name.startsWith('kept:')), 'a wrong password loses nothing')
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
  t.equal(signedIn.status, 303)
  lacks(t, signedIn.body, 'Grace')
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

await t.test('what no form of the console sends is not carried along', async (t) => {
  for (const path of ['https://elsewhere.example.com', '//elsewhere.example.com', '/api/v1/keys', '/console/../api']) {
    const ended = await post('/send', [[':again', path], [':author', '1'], ['x', 'y']])
    t.equal(ended.status, 303, path)
  }
  t.equal((await post('/developers/keys', [['name', 'x']])).status, 303, 'a form that does not say so')
})

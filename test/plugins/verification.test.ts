import { addFactor } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { html, offerVerification, proofForm } from '@dispatch/plugins/console'
import { defineFeature } from '@dispatch/plugins/feature'
import t from 'tap'
import { findFeatures } from '../../plugins/features/find-features.ts'
import { hasNoFault, isError } from '../hostile/support.ts'
import { contains, lacks } from '../support/matching.ts'
import { startService } from '../support/service.ts'

// A stranger's kind of verification: whoever has a riddle knows its answer.
const answers = new Map<number, string>()
const requested = new Map<string, number | undefined>()

const riddles = defineFeature({
  name: 'riddles',
  needs: {},
  verification: {
    kind: 'riddle',
    count: (_queries, { userId }) => Promise.resolve(answers.has(userId) ? 1 : 0),
    remove (_queries, { userId }) {
      answers.delete(userId)
      return Promise.resolve()
    },
    check: () => ({
      offered: true,
      ask (user) {
        const challenge = `challenge ${requested.size}`
        requested.set(challenge, user?.userId)
        return Promise.resolve({ options: { challenge }, challenge })
      },
      answered (given, question) {
        const { challenge = '', userId = 0, answer }: { challenge?: string, userId?: number, answer?: string } = JSON.parse(given)
        const of = requested.get(challenge)
        const isRequested = requested.delete(challenge) && of === ('user' in question ? question.user.userId : undefined)
        return Promise.resolve(isRequested && answer !== undefined && answers.get(userId) === answer ? userId : undefined)
      }
    })
  },
  pages (app, _options, done) {
    offerVerification(app, {
      kind: 'riddle',
      form: (_words, { action, name, use }) => html`<form method="post" action="${action}"><input name="${name}">${use} riddle</form>`,
      wait: () => 'Now your riddle.',
      section: ({ words }) =>
        Promise.resolve(
          html`<h2>Riddles</h2>${proofForm(words, { action: '/', id: 'riddle', label: 'Forget', intro: '', tone: 'danger' })}`
        )
    })
    done()
  }
})

const service = await startService(t, { features: [...await findFeatures(), riddles] })
const { app, send, url } = service
const sessions = app.get('sessions')
const { companyId, admin, member } = await service.company('riddled')
const account = (await app.get('accounts').byEmail(member.email))[0]!
const { userId } = account
const client = { address: '192.0.2.1', browser: 'test' }

/** The member has a riddle from now on. */
async function setUp (): Promise<void> {
  answers.set(userId, 'a towel')
  const { passwordVersion } = (await app.get('accounts').byId(userId))!
  const added = await addFactor(app.get('database'), { companyId, userId, passwordVersion }, {
    digests: [Buffer.from('one')],
    add: () => Promise.resolve(true)
  }, new Date())
  t.same(added, { row: true, first: true })
}

const optionsFor = async (waiting?: string): Promise<object> => (await sessions.ask('riddle', waiting))!.options
const answer = (options: object, text = 'a towel'): { kind: string, answer: string } => ({
  kind: 'riddle',
  answer: JSON.stringify({ ...options, userId, answer: text })
})

async function posted (path: string, cookie: string, form: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: url },
    body: new URLSearchParams(form)
  })
}
const cookieOf = (answer: Response): string => answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]).join('; ')

await t.test('it ends a sign-in after the password, for who has it', async (t) => {
  t.ok('session' in await sessions.open(member.email, member.password, client), 'the password alone, before there is a riddle')
  await setUp()
  isError(t, await send('GET', '/api/v1/credits', {}, member), 'forbidden')
  const signedIn = await posted('/console/sign-in', '', { email: member.email, password: member.password })
  const waits = cookieOf(signedIn)
  const page = await (await fetch(`${url}/console/sign-in/code`, { headers: { cookie: waits } })).text()
  for (const text of ['Now your riddle.', 'action="/console/sign-in/code/riddle"', 'second riddle']) contains(t, page, text)
  lacks(t, page, '/console/sign-in/code/passkey')
  const question = await (await posted('/console/sign-in/code/riddle/options', waits)).json() as object
  t.equal((await posted('/console/sign-in/code/riddle', waits, { answer: answer(question, 'a pan').answer })).status, 403)
  const again = await (await posted('/console/sign-in/code/riddle/options', waits)).json() as object
  const letIn = await posted('/console/sign-in/code/riddle', waits, { answer: answer(again).answer })
  t.equal(letIn.status, 303)
  const own = await (await fetch(`${url}/console/second-factor`, { headers: { cookie: cookieOf(letIn) } })).text()
  contains(t, own, '<h2>Riddles</h2>')
})

await t.test('it signs in alone, and proves who sits at a session', async (t) => {
  contains(t, await (await fetch(`${url}/console/sign-in`)).text(), 'alone riddle')
  const { options, challenge } = (await sessions.ask('riddle'))!
  const session = await sessions.openBy({ ...answer(options), challenge }, client)
  const own = (await sessions.actorOf(session ?? '', client.address))!
  t.equal(own.userId, userId)
  t.same(await sessions.waysToProve(own), { password: true, kinds: ['riddle'] })
  const author = { userId, companyId, address: client.address, requestId: 'r' }
  await t.rejects(sessions.prove({ actor: own, author }, answer(await optionsFor())), DispatchError, 'a question to anybody')
  const { options: ofUser } = (await sessions.askProof(own, 'riddle'))!
  t.ok(await sessions.prove({ actor: own, author }, answer(ofUser)) instanceof Date)
  t.equal(await sessions.ask('absent'), undefined, 'a kind that nobody provides')
  t.equal(await sessions.openBy({ kind: 'absent', answer: '', challenge: '' }, client), undefined)
})

await t.test('it is forgotten when an admin takes the second factor away, and when every way in is ended', async (t) => {
  t.equal((await send('DELETE', `/api/v1/users/${userId}/second-factor`, {}, admin)).status, 204)
  t.notOk(answers.has(userId))
  t.equal((await send('GET', '/api/v1/credits', {}, member)).status, 200)
  await setUp()
  t.equal((await send('POST', `/api/v1/users/${userId}/reset`, {}, admin)).status, 204)
  t.notOk(answers.has(userId))
  hasNoFault(t, service)
})

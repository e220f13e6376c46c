import t from 'tap'
import { dump, hasNoFault } from '../../../../../test/hostile/support.ts'
import { createAuthenticator } from '../../../../../test/support/authenticator.ts'
import { lacks } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'

// Two people of two companies, each with a passkey. One would be signed in as the other.

const clock = { now: new Date('2026-03-14T09:00:00Z') }
const service = await startService(t, { replacements: { now: () => clock.now } })
const { app, send } = service
const sessions = app.get('sessions')
const origin = 'https://dispatch.example.com'
const client = { address: '192.0.2.1', browser: 'test' }
const at = '/api/v1/my/passkeys'

type Key = ReturnType<typeof createAuthenticator>
type Deviation = Parameters<Key['get']>[1]
type Person = { login: Login, userId: number, key: Key }

const optionsFor = async (login: Login): Promise<any> => (await send('POST', `${at}/options`, {}, login)).body
const add = (login: Login, response: unknown): Promise<Answer> => send('POST', at, { body: { name: 'Key', response } }, login)

async function person (name: string): Promise<Person> {
  const { admin: login } = await service.company(name)
  const key = createAuthenticator(origin)
  const { status } = await add(login, key.create(await optionsFor(login)))
  if (status !== 201) throw new Error(`A passkey is answered ${String(status)}.`)
  const row = await app.get('database').owner.selectFrom('users').select('user_id').where('email', '=', login.email)
    .executeTakeFirstOrThrow()
  return { login, userId: row.user_id, key }
}
const [attacker, victim] = [await person('attacker'), await person('victim')]

/** As whom somebody is signed in who answers a question for a passkey alone. */
async function alone (answer: (options: any) => string, { browser }: { browser?: string } = {}): Promise<number | undefined> {
  const question = (await sessions.ask('passkey'))!
  const session = await sessions.openBy({ kind: 'passkey', answer: answer(question.options), challenge: browser ?? question.challenge },
    client)
  return session === undefined ? undefined : (await sessions.actorOf(session, client.address))?.userId
}

/** A sign-in that waits for the passkey, after the right password. */
async function waiting ({ login: { email, password } }: Person): Promise<string> {
  const opened = await sessions.open(email, password, client)
  return 'waiting' in opened ? opened.waiting : ''
}
const questionOf = async (waits: string): Promise<any> => (await sessions.ask('passkey', waits))!.options
const completed = (waits: string, answer: string): Promise<boolean> =>
  sessions.completeBy(waits, { kind: 'passkey', answer }, client).then((session) => session !== undefined, () => false)

/** The attacker's answer under the name of the victim's passkey. */
function renamed (options: unknown, deviation: Deviation = {}): string {
  const theirs = JSON.parse(victim.key.get(options)) as { id: string, response: { userHandle: string } }
  const own = JSON.parse(attacker.key.get(options, deviation)) as { response: object }
  return JSON.stringify({ ...own, id: theirs.id, rawId: theirs.id, response: { ...own.response, userHandle: theirs.response.userHandle } })
}

const deviations: Record<string, Deviation> = {
  'made at another site': { origin: 'https://evil.example' },
  'made at another port': { origin: `${origin}:8443` },
  'made at a host below': { origin: 'https://evil.dispatch.example.com' },
  'made over plain HTTP': { origin: 'http://dispatch.example.com' },
  'for another party': { party: 'evil.example' },
  'for the domain above': { party: 'example.com' },
  'of a user whom the device has not verified': { verified: false },
  'of a copy of the key': { counter: 0 },
  'with nobody\'s handle': { userHandle: '' }
}

await t.test('a passkey signs its own user in, and nothing else does', async (t) => {
  t.equal(await alone((options) => victim.key.get(options)), victim.userId)
  t.equal(await alone((options) => attacker.key.get(options)), attacker.userId)
  for (const [name, deviation] of Object.entries(deviations)) {
    t.equal(await alone((options) => victim.key.get(options, deviation)), undefined, `an answer ${name}`)
  }
  const handle = Buffer.from(`user ${String(victim.userId)}`).toString('base64url')
  t.equal(await alone((options) => attacker.key.get(options, { userHandle: handle })), undefined,
    'the attacker\'s key with the other\'s handle')
  t.equal(await alone((options) => renamed(options)), undefined, 'the attacker\'s key under the other\'s name')
  t.equal(await alone((options) => createAuthenticator(origin).get(options)), undefined, 'a key that nobody has')
})

await t.test('an answer counts for the question, the browser and the use that it was asked for, and once', async (t) => {
  const question = (await sessions.ask('passkey'))!
  const answer = victim.key.get(question.options)
  const opened = await Promise.all([1, 2, 3].map(() => sessions.openBy({ kind: 'passkey', answer, challenge: question.challenge }, client)))
  t.equal(opened.filter((session) => session !== undefined).length, 1, 'of several at once')
  t.equal(await sessions.openBy({ kind: 'passkey', answer, challenge: question.challenge }, client), undefined, 'again')
  t.equal(await alone((options) => victim.key.get(options), { browser: question.challenge }), undefined, 'in another browser')
  t.equal(await alone(() => victim.key.get({ rpId: 'dispatch.example.com', challenge: 'AAAA' })), undefined, 'a challenge of one\'s own')
  const registration = await optionsFor((await service.company('third')).admin)
  t.equal(await alone(() => victim.key.get({ rpId: 'dispatch.example.com', challenge: registration.challenge })), undefined,
    'the challenge of a registration')
  const made = createAuthenticator(origin).create({ ...registration, ...question.options, rp: registration.rp, user: registration.user })
  t.equal(await alone(() => JSON.stringify(made)), undefined, 'a new passkey in the place of an answer')
  const late = (await sessions.ask('passkey'))!
  const lateAnswer = victim.key.get(late.options)
  clock.now = new Date(clock.now.getTime() + 301_000)
  t.equal(await sessions.openBy({ kind: 'passkey', answer: lateAnswer, challenge: late.challenge }, client), undefined,
    'after five minutes')
})

await t.test('after the password of one person the passkey of another ends nothing', async (t) => {
  const waits = await waiting(victim)
  t.notOk(await completed(waits, attacker.key.get(await questionOf(waits))), 'the attacker\'s key')
  t.notOk(await completed(waits, renamed(await questionOf(waits))), 'under the other\'s name')
  const own = await waiting(attacker)
  t.notOk(await completed(waits, victim.key.get(await questionOf(own))), 'the question of another wait')
  t.notOk(await completed(own, victim.key.get(await questionOf(waits))), 'the other\'s answer to their own question')
  t.notOk(await completed(waits, victim.key.get((await sessions.ask('passkey'))!.options)), 'a question to anybody')
  t.ok(await completed(waits, victim.key.get(await questionOf(waits))), 'the right one does')
})

await t.test('a passkey belongs to one user, who has asked for it', async (t) => {
  const { admin } = await service.company('newcomer')
  const options = await optionsFor(admin)
  const key = createAuthenticator(origin)
  for (const deviation of [{ origin: 'https://evil.example' }, { party: 'evil.example' }]) {
    t.equal((await add(admin, key.create(await optionsFor(admin), deviation))).status, 403, JSON.stringify(deviation))
  }
  const { member } = await service.company('colleague')
  t.equal((await add(member, key.create(options))).status, 403, 'another\'s question')
  const { options: signIn } = (await sessions.ask('passkey'))!
  t.equal((await add(admin, key.create({ ...await optionsFor(admin), ...signIn }))).status, 403, 'the question of a sign-in')
  t.equal((await add(admin, attacker.key.create(await optionsFor(admin)))).status, 409, 'a passkey of another user')
  t.equal(
    await alone((requested) =>
      attacker.key.get(requested, { userHandle: Buffer.from(`user ${String(attacker.userId)}`).toString('base64url') })
    ),
    attacker.userId,
    'which stays theirs'
  )
})

await t.test('nothing of it was a fault, and no challenge stands in a row or a log', async (t) => {
  const { challenge } = (await sessions.ask('passkey'))!
  const rows = Object.values(await dump(app)).flat().join('\n')
  for (const text of [rows, service.log.join('\n')]) lacks(t, text, challenge)
  hasNoFault(t, service)
})

import t from 'tap'
import { clockAt } from '../support/clock.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { seededDatabase, startService, testConfig } from '../support/service.ts'
import { type CommandResult, dataDirectory, runDispatch } from './support/process.ts'

const databaseUrl = await seededDatabase(t)
const clock = clockAt(new Date().toISOString())
const options = { databaseUrl, replacements: { renderer: quickRenderer, now: clock.now } }
const [here, there] = [await startService(t, options), await startService(t, options)]
const env = { DATABASE_URL: databaseUrl, DISPATCH_DATA_DIR: dataDirectory(t), DISPATCH_MASTER_KEY: testConfig('').masterKey ?? '' }

const tokens = (...args: string[]): Promise<CommandResult> => runDispatch(['tokens', ...args], { env })

const login = async (): Promise<string> =>
  (await here.send('POST', '/auth', { body: { username: 'demo@example.com', password: 'demo-password' } }, null)).body.data.token
const statusOf = async (token: string): Promise<number[]> =>
  Promise.all(
    [here, there].map(async (service) =>
      (await service.send('GET', '/healthz', { headers: { authorization: `Bearer ${token}` } }, null)).status
    )
  )
const kidOf = (token: string): unknown => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid

await t.test('another key signs from two minutes on, and no token ends by it', async (t) => {
  const before = await login()
  const said = await tokens('rotate')
  has(t, said, { code: 0, stdout: /^Access tokens have the new key [\da-f-]{36}: it signs in two minutes/, stderr: '' })
  const kid = /[\da-f-]{36}/.exec(said.stdout)?.[0]
  // The command has a clock of its own.
  clock.advance(180)
  const after = await login()
  t.equal(kidOf(after), kid)
  t.not(kidOf(before), kid)
  for (const token of [before, after]) t.same(await statusOf(token), [200, 200])
})

await t.test('a revoked key takes all its tokens with it, within a minute and in every process', async (t) => {
  const before = await login()
  t.same(await statusOf(before), [200, 200])
  has(t, await tokens('revoke'), { code: 0, stdout: /every token that was signed before is refused/ })
  clock.advance(60)
  t.same(await statusOf(before), [401, 401])
  t.same(await statusOf(await login()), [200, 200])
})

await t.test('what is no command is told, and changes nothing', async (t) => {
  const token = await login()
  for (const args of [[], ['rotat'], ['rotate', 'now'], ['toString']]) {
    has(t, await tokens(...args), { code: 1, stdout: '', stderr: /^It is "tokens rotate" or "tokens revoke"/ })
  }
  clock.advance(180)
  t.same(await statusOf(token), [200, 200])
})

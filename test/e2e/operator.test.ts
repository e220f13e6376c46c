import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDatabase } from '../../core/packages/database/database.ts'
import { has } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { databasePid, dataDirectory, root, runDispatch, send, startReady } from './support/process.ts'

/** What the operators' page lets its reader do. */
const [, documented = ''] = /^npm run dispatch -- operator (.*)$/m.exec(readFileSync(join(root, 'plugins/guides/operator.md'), 'utf8')) ??
  []

const email = 'ada@example.com'
const password = 'a good password'
const create = documented.split(' ')

async function emptyDatabase (t: Test) {
  const { url } = await testDatabase(t)
  const database = openDatabase({ connectionString: url }, { onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  return {
    url,
    database,
    env: {
      NODE_ENV: 'production',
      DATABASE_URL: url,
      DISPATCH_PUBLIC_URL: 'https://dispatch.example.com',
      DISPATCH_DATA_DIR: dataDirectory(t)
    }
  }
}

void t.test('a command without the NODE_ENV of the service does not fill its server with the demo', async (t) => {
  const { database, env } = await emptyDatabase(t)
  const said = await runDispatch(['operator', ...create], { input: `${password}\n`, env: { ...env, NODE_ENV: 'development' } })
  t.equal(said.code, 0, said.stderr)
  t.same((await database.owner.selectFrom('users').select('email').execute()).map((user) => user.email), [email])
})

void t.test('a production installation gets its platform and first operator, who opens it to companies', async (t) => {
  const { url, database, env } = await emptyDatabase(t)
  const said = await runDispatch(['operator', ...create], { input: `${password}\n`, env })
  t.strictSame(said, { code: 0, stdout: `The operator ${email} is there, as user 1 of the platform.\n`, stderr: '' })
  has(t, await database.owner.selectFrom('companies').selectAll().execute(), [{ company_id: 1, name: 'Platform' }])

  const further = await runDispatch(['operator', 'create', 'grace@platform.example.com'], { input: `${password}\nanother line`, env })
  has(t, further, { code: 0, stdout: /user 2 of the platform/ }, 'a further one; npm without "--" hands on the value alone')

  const service = await startService(t, { databaseUrl: url, config: { environment: 'production' } })
  const first = { email: 'admin@acme.example.com', password }
  const made = await service.send('POST', '/api/v1/companies', { body: { name: 'Acme', credits: 5, admin: first } }, { email, password })
  has(t, made, { status: 201, body: { id: 2 } })
  t.equal((await service.send('GET', '/api/v1/credits', {}, first)).body.balance, 5)
  const { data } = (await service.send('GET', '/api/v1/audit', {}, { email: 'grace@platform.example.com', password })).body
  has(t, data, [
    { action: 'user.created', author: null, object: { id: '2' } },
    { action: 'user.created', author: null },
    { action: 'company.created', author: null }
  ])
  t.notOk('address' in data[0])
})

void t.test('what cannot be done is told in a sentence', async (t) => {
  const { env } = await emptyDatabase(t)
  const refused: [args: string[], input: string, message: RegExp][] = [
    [[], password, /^It is "operator create --email <address>"/],
    [[...create, '--password', password], '', /^Unknown option '--password'/],
    [create, '', /^No password was given: it is the first line of standard input\.\n$/],
    [create, 'short\n', /^\/password: Needs at least 10 characters\.\n$/]
  ]
  const answers = await Promise.all(refused.map(([args, input]) => runDispatch(['operator', ...args], { input, env })))
  for (const [index, [args, , message]] of refused.entries()) {
    has(t, answers[index], { code: 1, stdout: /^$/, stderr: message }, args.join(' '))
  }
})

void t.test('it works on the embedded database of development, whether the service runs or not', async (t) => {
  const folder = dataDirectory(t)
  const env = { DISPATCH_DATA_DIR: folder }
  has(t, await runDispatch(['operator', ...create], { input: `${password}\n`, env }), { code: 0, stderr: '' })
  t.equal(databasePid(folder), undefined, 'what was started for it has ended')
  const service = await startReady(t, { dataDirectory: folder })
  t.equal((await send(service.url(), 'GET', '/api/v1/credits')).status, 200, 'the company of development is there all the same')
  const second = { email: 'second@platform.example.com', password }
  has(t, await runDispatch(['operator', 'create', '--email', second.email], { input: `${password}\n`, env }), { code: 0, stderr: '' })
  for (const login of [{ email, password }, second]) {
    t.equal((await send(service.url(), 'GET', '/api/v1/companies', undefined, login)).status, 200)
  }
})
